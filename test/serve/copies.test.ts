// SPDX-License-Identifier: Apache-2.0
// Copies to and from a serving receiver:
// both directions, several clients, permissions, directories and keys.
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { enter, file } from '../support/compare.ts';
import { eventsOf, useCopyPlace } from '../support/copy-server.ts';
import { eventually } from '../support/eventually.ts';
import { makeHostile } from '../support/hostile-tree.ts';
import { BIN } from '../support/programs.ts';
import { runProgram, succeeds } from '../support/run-program.ts';
import { LEAVE } from '../support/tree-stream.ts';

const BIG_BYTES = 20_000_000;
const INTO = { type: 'place', place: 0 } as const;
const REMOVE = { type: 'remove', name: 'own' } as const;

describe('a serving receiver', () => {
  const place = useCopyPlace();
  before(() => makeTree(place.path('tree')));

  it('receives a tree and sends it back, and reports both', async () => {
    const server = await place.serve();
    expect(await place.rdcp('-a', 'tree', server.url(''))).to.include({ status: 0 });
    expect(succeeds('diff', ['-r', '--no-dereference', place.path('tree'), join(place.served, 'tree')])).to.equal(true);
    expect(await place.rdcp('-a', server.url('tree/'), 'back')).to.include({ status: 0 });
    expect(succeeds('diff', ['-r', '--no-dereference', place.path('tree'), place.path('back')])).to.equal(true);
    await eventually(() => expect(server.stderr().match(/complete/g)).to.have.length(2));
    expect(server.stderr()).to.match(/default from 127\.0\.0\.1:\d+: began writing \.\n/);
    expect(server.stderr()).to.match(/writing \.: complete, received 19\.\d MiB, sent [\d.]+ (?:B|KiB) in [\d.]+ s\n/);
    expect(server.stderr()).to.match(/reading tree\/: complete, received [\d.]+ (?:B|KiB), sent 19\.\d MiB/);
  });

  it('links to an earlier copy below its directory, and to nothing else', async () => {
    const server = await place.serve();
    expect(await place.rdcp('-a', 'tree/', server.url('days/1/'), '--mkpath')).to.include({ status: 0 });
    const copied = await place.rdcp('-a', '--link-dest', '../1', 'tree/', server.url('days/2/'));
    expect(copied).to.include({ status: 0, stderr: '' });
    const inodes = ['1', '2'].map((day) => lstatSync(join(place.served, 'days', day, 'file')).ino);
    expect(inodes[0]).to.equal(inodes[1]);
    mkdirSync(place.path('outside'), { recursive: true });
    const outside = await place.rdcp('-a', '--link-dest', place.path('outside'), 'tree/', server.url('days/3/'));
    expect(outside.stderr).to.include('cannot open the directory').and.to.include('of --link-dest: no such file');
    expect(existsSync(join(place.served, 'days/3'))).to.equal(false);
  });

  it('cannot make a client write or remove what it did not ask for', async () => {
    for (const [role, records, words] of [
      ['scan', [enter('d'), LEAVE, file('.bashrc')], 'a file that was not asked for: ".bashrc"'],
      ['read', [INTO, enter('d'), REMOVE, LEAVE], 'a removal that was not asked for: "d/own"'],
    ] as const) {
      makeHostile(place.path(role), role, records);
      const server = await place.serveWith(place.path(role));
      for (const directory of ['served/d', 'to/d']) mkdirSync(place.path(directory), { recursive: true });
      place.write('to/d/own', '');
      const { status, stderr } = await place.rdcp('-r', server.url('d'), 'to');
      expect(stderr).to.contain(` sent ${words}`);
      expect([status, readdirSync(place.path('to')), existsSync(place.path('to/d/own'))]).to.deep.equal([
        125,
        ['d'],
        true,
      ]);
    }
  });

  it('serves three clients at once, each in its own session', async () => {
    const server = await place.serve('--json');
    const copies = [1, 2, 3].map((number) => place.rdcp('-a', 'tree/', server.url(`three/${number}/`), '--mkpath'));
    for (const { status, stderr } of await Promise.all(copies)) expect(status, stderr).to.equal(0);
    for (const number of [1, 2, 3])
      expect(succeeds('diff', ['-r', place.path('tree/sub'), join(place.served, `three/${number}/sub`)])).to.equal(
        true,
      );
    await eventually(() => expect(eventsOf(server.stderr(), 'end')).to.have.length(3));
    for (const end of eventsOf(server.stderr(), 'end'))
      expect(end).to.include({ client: 'default', status: 'complete' });
    expect(eventsOf(server.stderr(), 'begin').map(({ direction }) => direction)).to.deep.equal([
      'write',
      'write',
      'write',
    ]);
  });

  it('gives each client of --config its directory and its rights', async () => {
    mkdirSync(join(place.served, 'drop'), { recursive: true });
    place.write('alice', 'the key of alice, long enough\n');
    place.write('bob', 'cd'.repeat(32));
    const clients = {
      alice: { keyfile: place.path('alice'), directory: 'drop', rights: 'write' },
      bob: { key: 'cd'.repeat(32), rights: 'read' },
    };
    const config = place.write('clients.json', JSON.stringify({ client: clients }));
    const server = await place.serve('--config', config);
    const [alice, bob] = [['--keyfile', 'alice'] as const, ['--keyfile', 'bob'] as const];
    expect(await place.rdcp(...alice, 'tree/file', server.url('new', 'alice'))).to.include({ status: 0 });
    expect(readFileSync(join(place.served, 'drop/new'), 'utf8')).to.equal('content\n');
    const reading = await place.rdcp(...alice, server.url('new', 'alice'), 'x');
    expect(reading.status).to.not.equal(0);
    expect(reading.stderr).to.include('this key may not read here');
    expect(await place.rdcp(...bob, server.url('drop/new', 'bob'), 'got')).to.include({ status: 0 });
    const writing = await place.rdcp(...bob, 'tree/file', server.url('drop/y', 'bob'));
    expect(writing.stderr).to.include('this key may not write here');
    expect(existsSync(join(place.served, 'drop/y'))).to.equal(false);
    const asBob = await place.rdcp(...alice, 'tree/file', server.url('drop/y', 'bob'));
    expect(asBob.stderr).to.include('the server has a different key for bob');
  });

  for (const [flag, words] of [
    ['--read-only', 'this key may not write here'],
    ['--write-only', 'this key may not read here'],
  ] as const)
    it(`refuses copies that ${flag} forbids`, async () => {
      mkdirSync(place.served, { recursive: true });
      writeFileSync(join(place.served, 'there'), 'there');
      const server = await place.serve(flag);
      const copy = flag === '--read-only' ? ['tree/file', server.url('no')] : [server.url('there'), 'no'];
      const { status, stderr } = await place.rdcp(...copy);
      expect(status).to.not.equal(0);
      expect(stderr).to.include(words);
      const [what, path] = flag === '--read-only' ? ['writing', 'no'] : ['reading', 'there'];
      await eventually(() => expect(server.stderr()).to.include(`: ${what} ${path}: refused: ${words}\n`));
    });

  it('refuses what would show a client that may only write what is there', async () => {
    mkdirSync(place.served, { recursive: true });
    writeFileSync(join(place.served, 'hidden name'), 'there');
    const server = await place.serve('--write-only');
    for (const options of ['-rn', '-rc', '-rnc', '-r --delete', '-rn --delete', '-rv --delete']) {
      const { status, stderr, stdout } = await place.rdcp(...options.split(' '), 'tree/', server.url(''));
      expect(status, options).to.equal(125);
      expect(stderr, options).to.match(
        /the server refuses this: (-n|--checksum|--delete) .*, and this key may not read/,
      );
      expect(stderr + stdout, options).to.not.include('hidden');
    }
    expect(readFileSync(join(place.served, 'hidden name'), 'utf8')).to.equal('there');
    expect(await place.rdcp('-r', 'tree/', server.url(''))).to.include({ status: 0 });
  });

  it('leaves owners, set-user-id bits and everything outside its directory unchanged', async () => {
    const server = await place.serve();
    expect(await place.rdcp('-a', 'tree/setuid', server.url('setuid'))).to.include({ status: 0 });
    expect(lstatSync(join(place.served, 'setuid')).mode & 0o7777).to.equal(0o755);
    writeFileSync(place.path('secret'), 'secret');
    symlinkSync(place.directory, join(place.served, 'out'));
    for (const path of ['../secret', '../../../../../../etc/passwd', 'out/secret', '/etc/passwd']) {
      const { stderr } = await place.rdcp(server.url(path), 'stolen');
      expect(stderr, path).to.match(/cannot read/);
    }
    expect(existsSync(place.path('stolen'))).to.equal(false);
    await place.rdcp('tree/file', server.url('out/written'));
    await place.rdcp('tree/file', server.url('../written'));
    expect(existsSync(place.path('written'))).to.equal(false);
    expect(statSync(join(place.served, 'written')).isFile()).to.equal(true); // .. stops at the root
  });

  it('listens with the ends of its hops on --ports', async () => {
    const server = await place.serve('--ports', '21700-21740');
    const { status, stderr } = await place.rdcp('-vv', 'tree/file', server.url('ported'));
    expect(status, stderr).to.equal(0);
    expect(stderr).to.match(/:217[0-4]\d\b/);
  });

  it('reports in one line why a copy cannot begin', async () => {
    const server = await place.serve('--bind', '127.0.0.1');
    place.write('other', 'quite another key than that\n');
    place.write('open', `${place.key.toString('hex')}\n`);
    chmodSync(place.path('open'), 0o644);
    const cases: readonly (readonly [readonly string[], RegExp])[] = [
      [
        ['--keyfile', 'other', 'tree/file', server.url('x')],
        /^rdcp: cannot reach rd:\S+: the server has a different key/,
      ],
      [
        ['--keyfile', 'open', 'tree/file', server.url('x')],
        /^rdcp: .*other users can use it, mode 0644 \(chmod go= open\)/,
      ],
      [['--keyfile', 'missing', 'tree/file', server.url('x')], /^rdcp: cannot read the key file missing/],
      [['tree/file', 'rd://127.0.0.1:1/x'], /^rdcp: .*connection refused/],
    ];
    for (const [words, pattern] of cases) {
      const { status, stderr } = await place.rdcp(...words);
      expect({ status, lines: stderr.trimEnd().split('\n').length }, stderr).to.deep.equal({
        status: words.includes('open') || words.includes('missing') ? 2 : 125,
        lines: 1,
      });
      expect(stderr).to.match(pattern);
    }
  });

  for (const [what, text, reason] of [
    ['blanks', ' '.repeat(40), /the key consists of blanks/],
    ['a NUL byte', 'a key that is long enough\0', /it contains a NUL byte/],
  ] as const)
    it(`does not start with a key of ${what}, and rdcp does not use it`, async () => {
      const file = place.write('bad key', text);
      const words = ['--serve', place.served, '--port', '0', '--keyfile', file];
      const server = runProgram(join(BIN, 'rdrecv'), words);
      expect(server).to.include({ status: 2, stdout: '' });
      expect(server.stderr).to.match(reason);
      const { status, stderr } = await place.rdcp('--keyfile', file, 'tree/file', 'rd://localhost:1/x');
      expect(status).to.equal(2);
      expect(stderr).to.include('must hold one line, the key');
    });

  it('does not start with a key file that others may read', async () => {
    const failure = await place.serve('--keyfile', place.write('loose', '0'.repeat(64), 0o640)).catch(String);
    expect(failure).to.include('other users can access').and.include('chmod go=');
  });
});

function makeTree(directory: string): void {
  mkdirSync(join(directory, 'sub/deeper'), { recursive: true });
  writeFileSync(join(directory, 'file'), 'content\n');
  writeFileSync(join(directory, 'sub/big'), Buffer.alloc(BIG_BYTES, 'some bytes of it\n'));
  writeFileSync(join(directory, 'sub/deeper/empty'), '');
  writeFileSync(join(directory, 'setuid'), '');
  chmodSync(join(directory, 'setuid'), 0o4755);
  symlinkSync('file', join(directory, 'link'));
}
