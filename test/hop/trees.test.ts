// SPDX-License-Identifier: Apache-2.0
// Trees through a standalone hop: content, failures, and old files after a broken stream.
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { expect } from 'chai';
import { execaSync } from 'execa';
import { eventually } from '../support/eventually.ts';
import { jsonLines } from '../support/json-output.ts';
import { needsTool } from '../support/needs.ts';
import { type Ended, KEY, PATIENT, type Program, useBench } from '../support/programs.ts';
import { makeTree } from '../support/tree-fixtures.ts';

/** Lists differences in contents, modes, owners, times, hard links, ACLs, attributes. */
const DIFFERENCE = 'rsync -aHAX --checksum --delete -n -i "$1/" "$2/"';
const NO_TREE = 'rdrecv: received a plain stream, not a directory tree (give rdrecv a FILE that is not a directory)\n';
/** A file that takes long to send with a limit. */
const LARGE = 'head -c 64M /dev/urandom > from/large';

describe('rdsend and rdrecv carry trees', () => {
  const bench = useBench(PATIENT);

  beforeEach(() => {
    execaSync('rm', ['-rf', ...['from', 'to', 'whole'].map((name) => bench.path(name))]);
    mkdirSync(bench.path('from/below'), { recursive: true });
    writeFileSync(bench.path('from/file'), 'file\n');
    writeFileSync(bench.path('from/below/other'), 'other\n');
    mkdirSync(bench.path('to'));
  });

  for (const modes of [[], ['--encrypt', 'always', '--compress', 'zstd']])
    it(`with all metadata that a copy can lose${modes.map((word) => ` ${word}`).join('')}`, async function () {
      needsTool(this, 'rsync');
      makeTree(bench.path('whole'));
      const { sent, received } = await transfer('whole', 'to', ['-A', '-X', ...modes], ['-A', '-X']);
      expect([sent.status, received.status, sent.stderr]).to.deep.equal([0, 0, '']);
      expect(await differences('whole', 'to/whole')).to.equal('');
    });

  const PLACES = [
    ['from', 'to', 'to/from'],
    ['from', 'to/', 'to/from'],
    ['from/', 'to', 'to'],
    ['from/.', 'to', 'to'],
    ['from', 'to/new/', 'to/new/from'],
    ['from/', 'to/new//', 'to/new'],
    ['./from', './to', 'to/from'],
  ] as const;
  for (const [source, target, place] of PLACES)
    it(`${source} to ${target} is ${place}`, async () => {
      const { sent, received } = await transfer(source, target);
      expect([sent.status, received.status, sent.stderr]).to.deep.equal([0, 0, '']);
      expect(readFileSync(bench.path(`${place}/below/other`), 'utf8')).to.equal('other\n');
    });

  it('names that begin with ~ are names', async () => {
    execaSync('mv', [bench.path('from'), bench.path('~')]);
    const { sent } = await transfer('~', 'to');
    rmSync(bench.path('~'), { recursive: true });
    expect([sent.status, existsSync(bench.path('to/~/file'))]).to.deep.equal([0, true]);
  });

  it('other entries of the target stay, older ones are replaced', async () => {
    mkdirSync(bench.path('to/from'));
    writeFileSync(bench.path('to/from/file'), 'old');
    writeFileSync(bench.path('to/from/mine'), 'mine');
    await transfer('from', 'to');
    expect(readdirSync(bench.path('to/from')).sort()).to.deep.equal(['below', 'file', 'mine']);
    expect(readFileSync(bench.path('to/from/file'), 'utf8')).to.equal('file\n');
  });

  it('no link below the target is followed', async () => {
    mkdirSync(bench.path('to/from'));
    mkdirSync(bench.path('whole'));
    symlinkSync('../../whole', bench.path('to/from/below'));
    const { received } = await transfer('from', 'to');
    expect(received.status).to.equal(0);
    expect(readdirSync(bench.path('whole'))).to.deep.equal([]);
    expect(readFileSync(bench.path('to/from/below/other'), 'utf8')).to.equal('other\n');
  });

  it('-v counts, --json has the events', async () => {
    const counted = await transfer('from', 'to', ['-v'], ['-v']);
    expect(counted.sent.stderr).to.include('rdsend: sent 2 files, 11 B\n');
    expect(counted.received.stderr).to.include('rdrecv: wrote 2 files, 11 B\n');
    const { sent } = await transfer('from', 'to', ['--json']);
    const events = jsonLines(sent.stderr, 'stream');
    expect(events.find(({ event, done }) => event === 'progress' && done)).to.include({ files: 2, bytes: 11 });
    expect(events.at(-1)).to.include({ event: 'finished', result: 'delivered' });
  });

  it('a path that cannot be written does not fail the others', async () => {
    mkdirSync(bench.path('to/from/file/in'), { recursive: true });
    const { sent, received } = await transfer('from', 'to');
    expect([sent.status, received.status]).to.deep.equal([0, 23]);
    const [, failure, summary] = received.stderr.split('\n');
    expect(failure).to.match(/^rdrecv: to\/from\/file: /);
    expect(summary).to.equal('rdrecv: wrote 1 file, 6 B; 1 path failed');
    expect(existsSync(bench.path('to/from/below/other'))).to.equal(true);
  });

  it('a path that cannot be read does not fail the others, and both ends report it', async () => {
    const { sent, received } = await transfer('from', 'to', [], [], unreadable());
    expect([sent.status, received.status]).to.deep.equal([23, 23]);
    expect(sent.stderr).to.equal(
      'rdsend: from/file: cannot read: permission denied\nrdsend: sent 1 file, 6 B; 1 path failed\n',
    );
    expect(received.stderr).to.include(
      'rdrecv: to: the source could not be read completely (see the messages of rdsend)\n',
    );
    expect(readdirSync(bench.path('to/from'))).to.deep.equal(['below']);
  });

  for (const [name, bytes] of [
    ['text', 'no tree\n'],
    ['little', 'x'],
    ['nothing', ''],
    ['zeros', '\0'.repeat(100_000)],
    ['decisions', '\x08\0\0\0\x01\0\0\0\x01\0\0\0\x02\0\0\0'],
  ] as const)
    it(`a stream that is not a tree is refused: ${name}`, async () => {
      writeFileSync(bench.path('stream'), bytes);
      const { received } = await transfer('stream', 'to/new/');
      expect(received.status).to.equal(8);
      const [, line] = received.stderr.split(/(?<=\n)/);
      expect(line).to.equal(
        name === 'decisions' ? 'rdrecv: the stream of the tree does not have the expected version or phase\n' : NO_TREE,
      );
      expect(readdirSync(bench.path('to'))).to.deep.equal([]);
    });

  it('a file stores the stream of a tree, and sends it to a directory', async () => {
    const kept = await transfer('from', 'to/kept');
    expect([kept.sent.status, kept.received.status]).to.deep.equal([0, 0]);
    const { sent, received } = await transfer('to/kept', 'to');
    expect([sent.status, received.status]).to.deep.equal([0, 0]);
    expect(readFileSync(bench.path('to/from/file'), 'utf8')).to.equal('file\n');
  });

  it('a link to a directory needs a slash', async () => {
    symlinkSync('from', bench.path('whole'));
    const refused = await bench.rdsend(['127.0.0.1', '1', KEY, 'whole']).ended;
    expect(refused.status).to.equal(2);
    expect(refused.stderr).to.include(
      'rdsend: whole is a symbolic link to a directory (to send its contents: whole/)\n',
    );
    await transfer('whole/', 'to');
    expect(existsSync(bench.path('to/file'))).to.equal(true);
  });

  for (const [killed, signal] of [
    ['sender', 'SIGKILL'],
    ['receiver', 'SIGKILL'],
    ['receiver', 'SIGTERM'],
    ['sender', 'SIGTERM'],
  ] as const)
    it(`${signal} for the ${killed} leaves old files unchanged`, async () => {
      await bench.bash(LARGE).ended;
      mkdirSync(bench.path('to/from'));
      writeFileSync(bench.path('to/from/large'), 'old');
      const { sender, receiver } = await start('from', 'to', ['--limit', '2M']);
      await eventually(() => expect(temporaryBytes()).to.be.above(0));
      const children = await childrenOf(receiver.pid);
      (killed === 'sender' ? sender : receiver).child.kill(signal);
      const survivor = await (killed === 'sender' ? receiver : sender).ended;
      expect(survivor.status).to.equal(signal === 'SIGKILL' ? 5 : 9);
      await eventually(async () => expect(await children()).to.equal(''));
      expect(readFileSync(bench.path('to/from/large'), 'utf8')).to.equal('old');
      if (killed === 'sender' || signal === 'SIGTERM') expect(temporaryBytes()).to.equal(0);
    });

  it('leftovers of a killed receiver are removed by the next one', async () => {
    await bench.bash(LARGE).ended;
    const { sender, receiver } = await start('from', 'to', ['--limit', '2M']);
    await eventually(() => expect(temporaryBytes()).to.be.above(0));
    receiver.child.kill('SIGKILL');
    await sender.ended;
    const again = await transfer('from', 'to');
    expect([again.sent.status, again.received.status]).to.deep.equal([0, 0]);
    expect(readdirSync(bench.path('to/from')).sort()).to.deep.equal(['below', 'file', 'large']);
    expect(readdirSync(bench.path('to'))).to.deep.equal(['from']);
  });

  it('a file that does not fit into the target fails, and the others are kept', async () => {
    const script = `mount -t tmpfs -o size=64k tmpfs to && { rdrecv ${PATIENT} 0 $1 to 2> told & }
      until port=$(grep -soE '[0-9]+$' told); do sleep 0.01; done
      rdsend ${PATIENT} 127.0.0.1 $port $1 from; echo $?; wait $!; echo $?; ls to/from`;
    await bench.bash(LARGE).ended;
    const { stdout, stderr } = await inOwnMounts(script);
    expect([stdout.toString(), stderr]).to.deep.equal(['0\n23\nbelow\nfile\n', '']);
    expect(readFileSync(bench.path('told'), 'utf8')).to.match(/rdrecv: to\/from\/large: .*no space left/i);
  });

  /** Makes a file unreadable, even for root: returns a command that drops root's capabilities to read it. */
  function unreadable(): readonly string[] {
    execaSync('chmod', ['000', bench.path('from/file')]);
    if (process.getuid?.() !== 0) return [];
    return ['setpriv', '--bounding-set', '-dac_override,-dac_read_search', '--inh-caps', '-all'];
  }

  async function inOwnMounts(script: string): Promise<Ended> {
    return bench.bash('unshare --mount --map-root-user --user bash -c "$1" bash "$2"', script, KEY).ended;
  }

  async function transfer(
    source: string,
    target: string,
    sending: readonly string[] = [],
    receiving: readonly string[] = [],
    through: readonly string[] = [],
  ): Promise<{ readonly sent: Ended; readonly received: Ended }> {
    const { sender, receiver } = await start(source, target, sending, receiving, through);
    const [sent, received] = await Promise.all([sender.ended, receiver.ended]);
    return { sent, received };
  }

  async function start(
    source: string,
    target: string,
    sending: readonly string[] = [],
    receiving: readonly string[] = [],
    through: readonly string[] = [],
  ): Promise<{ readonly sender: Program; readonly receiver: Program }> {
    const receiver = bench.rdrecv([...receiving, '0', KEY, target]);
    const words = [...sending, '127.0.0.1', `${await receiver.port()}`, KEY, source];
    const [program, ...before] = through;
    const sender =
      program === undefined
        ? bench.rdsend(words)
        : bench.start(program, [...before, 'rdsend', ...PATIENT.split(' '), ...words], ['ignore', 'ignore', 'pipe']);
    return { sender, receiver };
  }

  async function differences(one: string, other: string): Promise<string> {
    const { stdout, stderr } = await bench.bash(DIFFERENCE, bench.path(one), bench.path(other)).ended;
    return stdout.toString() + stderr;
  }

  /** Allocated blocks of files in the target that have no final name yet. */
  function temporaryBytes(): number {
    const directory = bench.path('to/from');
    if (!existsSync(directory)) return 0;
    const names = readdirSync(directory).filter((name) => name.startsWith('.'));
    return names.reduce((sum, name) => sum + statSync(`${directory}/${name}`).blocks, 0);
  }

  /** Returns a function that lists which of the current children are still alive. */
  async function childrenOf(pid: number): Promise<() => Promise<string>> {
    const { stdout } = await bench.bash(`ps -o pid= --ppid ${pid}`).ended;
    const pids = stdout.toString().trim().split(/\s+/);
    expect(pids).to.have.length(2); // rdtree and its guard
    return async () => {
      return (await bench.bash(`ps -o pid=,stat= -p ${pids.join(',')} | grep -v Z`).ended).stdout.toString();
    };
  }
});
