// SPDX-License-Identifier: Apache-2.0
// Keys of a standalone hop: rdrecv generates one and shows it only on its terminal;
// rdsend asks for it on another terminal.
import { chmodSync, copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { eventually } from '../support/eventually.ts';
import { needsTool } from '../support/needs.ts';
import { visibleTexts } from '../support/processes.ts';
import { BIN, KEY, PATIENT, useBench } from '../support/programs.ts';
import { Tmux } from '../support/tmux.ts';

const LINE = /^ {4}(rdsend 127\.0\.0\.1 \d+ -)$/m;
const WORDS = /^ {4}((?:[b-z][aiou][b-z][aiou][b-z]-){7}[b-z][aiou][b-z][aiou][b-z])$/m;
const SHORT = /^(rdsend|rdrecv): a key this short can be guessed /m;
/** Starts when the hop is connected; keeps the programs running until the test has inspected them. */
const PRODUCER = 'touch begun; cat in; until test -e seen; do sleep 0.05; done; rm begun seen';
const STREAM_BYTES = 300_000;

describe('a key that rdrecv generated', () => {
  const bench = useBench();
  const open: Tmux[] = [];
  before(function () {
    needsTool(this, 'tmux');
  });
  afterEach(async () => {
    await Promise.all(open.splice(0).map((terminal) => terminal.close()));
  });

  for (const [given, asks] of [
    ['0 > out', false],
    ['0 - out', true],
    ["0 -- sh -c 'cat > out'", false],
  ] as const)
    it(`is shown only on the terminal, and opens the hop when typed (rdrecv ${given})`, async () => {
      const content = Buffer.alloc(STREAM_BYTES, 'all of it\n');
      writeFileSync(bench.path('in'), content);
      const [receiver, sender] = [await newTerminal('receiver'), await newTerminal('sender')];
      await receiver.start(`rdrecv -v ${PATIENT} --transport tcp --bind 127.0.0.1 2> log ${given}`);
      if (asks) await receiver.shows(/^key \(press Enter to generate one\):$/m).then(() => receiver.press('Enter'));
      const shown = await receiver.shows(WORDS);
      const [line = '', words = ''] = [LINE, WORDS].map((pattern) => pattern.exec(shown)?.[1]);
      await sender.start(`${line} -- sh -c '${PRODUCER}'`);
      await sender.shows(/^key:$/m);
      await sender.type(words);
      await eventually(() => expect(existsSync(bench.path('begun'))).to.equal(true));
      expect(visibleTexts().join('\n')).to.include('--bind').and.not.include(words);
      writeFileSync(bench.path('seen'), '');
      expect((await sender.ended()).status).to.equal(0);
      expect((await receiver.ended()).status).to.equal(0);
      expect(readFileSync(bench.path('out')).equals(content)).to.equal(true);
      expect(readFileSync(bench.path('log'), 'utf8'))
        .to.include('Bandwidth')
        .and.not.include(words);
      expect(await sender.history()).to.not.include(words);
    });

  it('is different each time', async () => {
    const receiver = await newTerminal('receiver');
    const made = new Set<string | undefined>();
    for (let times = 0; times < 3; times++) {
      await receiver.type('clear');
      await receiver.shows(/^\$$/);
      await receiver.type(`rdrecv ${PATIENT} --bind 127.0.0.1 0 2> log`);
      made.add(WORDS.exec(await receiver.shows(WORDS))?.[1]);
      await receiver.press('C-c');
      await receiver.shows(/\^C\n\$$/);
    }
    expect(made.size).to.equal(3);
  });

  it('with a mistyped word is rejected by the sender', async () => {
    const sender = await newTerminal('sender');
    await sender.start('rdsend 127.0.0.1 1 - /dev/null');
    await sender.shows(/^key:$/m);
    await sender.type('lusab-babad-gutih-tugat-gutuk-bisgo-mudof-sakat');
    const { status, lines } = await sender.ended();
    expect(status).to.equal(2);
    expect(lines).to.include('rdsend: word 6 of the key is mistyped');
  });

  it('is not generated without a terminal to show it on', async () => {
    const { status, stdout, stderr } = await bench.bash('exec setsid --wait rdrecv 0').ended;
    expect({ status, stdout: stdout.toString() }).to.deep.equal({ status: 2, stdout: '' });
    expect(stderr).to.match(/^rdrecv: no KEY was given, and there is no terminal .* \(use - as KEY and --key-fd N\)\n/);
  });

  async function newTerminal(name: string): Promise<Tmux> {
    mkdirSync(bench.path(name), { recursive: true });
    const env = { ...process.env, PATH: `${BIN}:${process.env.PATH}`, TMPDIR: bench.path(name) };
    const terminal = await Tmux.open({ columns: 100, rows: 30 }, { cwd: bench.directory, env });
    open.push(terminal);
    return terminal;
  }
});

describe('the key of a running program', () => {
  const bench = useBench();
  /** A user without rights, because root may read everything. */
  const user = process.getuid?.() === 0 ? ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups'] : ['env'];
  const startAsUser = (...words: readonly string[]) => {
    const [file = '', ...rest] = [...user, ...words];
    return bench.start(file, rest, ['ignore', 'ignore', 'pipe']);
  };
  const readAsUser = (pid: number, file: string) =>
    startAsUser('head', '-c', '1', `/proc/${pid}/${file}`).ended.then(({ status }) => status);

  it('is hidden from other programs of the same user', async function () {
    needsTool(this, 'setpriv');
    chmodSync(bench.directory, 0o755);
    copyFileSync(join(BIN, 'rdrecv'), bench.path('rdrecv'));
    const control = startAsUser('sleep', '1000');
    const receiver = startAsUser(bench.path('rdrecv'), ...PATIENT.split(' '), '0', KEY);
    await receiver.port();
    for (const file of ['environ', 'maps']) {
      await eventually(async () => expect(await readAsUser(control.pid, file)).to.equal(0));
      expect(await readAsUser(receiver.pid, file), file).to.equal(1);
    }
  });
});

describe('a key chosen by the user', () => {
  const bench = useBench(PATIENT);
  const MADE = 'lusab-babad-gutih-tugad-gutuk-bisog-mudof-sakat';

  for (const [key, options, warns] of [
    ['fifteen letters', [], true],
    ['fifteen letters', ['-q'], false],
    ['sixteen letters!', [], false],
    [MADE, [], false],
    [KEY, [], false],
  ] as const)
    it(`is ${warns ? 'warned about' : 'accepted without a warning'}: ${[...options, key.slice(0, 16)].join(' ')}`, async () => {
      const receiver = bench.rdrecv([...options, '0', key]);
      const sender = bench.rdsend([...options, '127.0.0.1', `${await receiver.port()}`, key, '/dev/null']);
      for (const { status, stderr } of await Promise.all([sender.ended, receiver.ended])) {
        expect(status).to.equal(0);
        expect(SHORT.test(stderr), stderr).to.equal(warns);
      }
    });
});
