// SPDX-License-Identifier: Apache-2.0
// Regressions of rdsend and rdrecv: failures of earlier tools that must not return.
// Their table is in docs/notes/regressions.md; test/integration/regressions.test.ts has those of complete pipelines.
import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync, rmSync, type Stats, statSync, writeFileSync } from 'node:fs';
import { type AddressInfo, connect, createServer } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import { eventually } from '../support/eventually.ts';
import { useFaultyFs } from '../support/faulty-fs.ts';
import { needsRoot, needsSightOfPrograms } from '../support/needs.ts';
import { TEST_MS } from '../support/patience.ts';
import { digestOf, type Ended, KEY, PATIENT, type Program, useBench } from '../support/programs.ts';

const OTHER_KEY = 'cd'.repeat(32);
const MIB = 1024 * 1024;

describe('rdsend and rdrecv', () => {
  const bench = useBench(PATIENT);
  const target = bench.path('d/target');

  beforeEach(() => {
    rmSync(bench.path('d'), { recursive: true, force: true });
    mkdirSync(bench.path('d'));
    writeFileSync(target, 'old');
  });

  describe('on failing disks', () => {
    const faulty = useFaultyFs();

    it('do not treat a read error on the source as end of file', async function () {
      needsSightOfPrograms(this);
      // Reading a process's memory at offset 0 fails with EIO.
      const { sent, received } = await transfer(['/proc/self/mem'], [target]);
      expect([sent.status, received.status]).to.deep.equal([6, 9]);
      expect(sent.stderr).to.equal('rdsend: cannot read /proc/self/mem: input/output error\n');
      expect(readFileSync(target, 'utf8')).to.equal('old');
    });

    it('leave no hole and no stale bytes after a short read or a failed one', async () => {
      const source = `${faulty.directory('read')}/source`;
      const bytes = numbers(3 * MIB);
      writeFileSync(source, bytes);
      const { sent, received } = await transfer([source], []);
      expect([sent.status, received.status]).to.deep.equal([6, 9]);
      expect(sent.stderr).to.match(/^rdsend: cannot read .*source: input\/output error\n$/);
      expect(received.stdout.length).to.be.at.most(MIB); // the offset at which reading fails
      expect(received.stdout.equals(bytes.subarray(0, received.stdout.length))).to.equal(true);
    });

    it("both end immediately when the receiver's disk is full", async () => {
      const { sent, received } = await transfer(['/dev/zero'], ['/dev/full']);
      expect([sent.status, received.status]).to.deep.equal([9, 7]);
      expect(received.stderr).to.match(/^rdrecv: cannot write \/dev\/full: no space left on device$/m);
      expect(sent.stderr).to.match(/^rdsend: .*no space left on device\n$/);
    });

    for (const fault of ['fsync', 'close', 'rename'] as const)
      it(`report a failing ${fault}, and keep the old file`, async () => {
        const sink = `${faulty.directory(fault)}/target`;
        writeFileSync(sink, 'old');
        writeFileSync(bench.path('in'), numbers(2 * MIB));
        const { sent, received } = await transfer([bench.path('in')], [sink]);
        expect([sent.status, received.status]).to.deep.equal([9, 7]);
        expect(received.stderr).to.contain(sink);
        expect(readFileSync(sink, 'utf8')).to.equal('old');
      });
  });

  it('keep the old file intact until the new one is complete, whatever connects', async function () {
    needsRoot(this); // to see the descriptors of a program that is not dumpable
    const receiver = bench.rdrecv(['-q', '0', KEY, target]);
    const port = await receiver.port();
    expect((await bench.rdsend(['127.0.0.1', `${port}`, OTHER_KEY, '/dev/zero']).ended).status).to.equal(4);
    expect(readFileSync(target, 'utf8')).to.equal('old');
    const sender = bench.rdsend(['127.0.0.1', `${port}`, KEY], ['pipe', 'ignore', 'pipe']);
    const fresh = 'new'.repeat(MIB); // less would stay in memory at first
    sender.child.stdin?.write(fresh);
    await eventually(() => expect(Math.max(...filesOf(receiver.pid).map(({ size }) => size))).to.be.at.least(MIB));
    expect(readFileSync(target, 'utf8')).to.equal('old');
    sender.child.stdin?.end();
    expect((await receiver.ended).status).to.equal(0);
    expect(readFileSync(target, 'utf8') === fresh).to.equal(true);
  });

  it('write at the offset of a standard output in the middle of a file', async () => {
    const script = `exec > out; echo before; rdrecv ${PATIENT} 0 ${KEY} 2> port & wait $!; echo after`;
    const receiver = bench.bash(script);
    const port = await eventually(
      () => /listening on port (\d+)/.exec(readFileSync(bench.path('port'), 'utf8'))?.[1] ?? expect.fail(),
    );
    writeFileSync(bench.path('in'), 'amid\n');
    expect((await bench.rdsend(['127.0.0.1', port, KEY, 'in']).ended).status).to.equal(0);
    await receiver.ended;
    expect(readFileSync(bench.path('out'), 'utf8')).to.equal('before\namid\nafter\n');
  });

  it('acknowledge bytes only after they were written', async () => {
    const receiver = bench.bash(`rdrecv ${PATIENT} 0 ${KEY} | { while [ ! -e go ]; do sleep 0.05; done; wc -c; }`);
    const sender = bench.rdsend(['127.0.0.1', `${await receiver.port()}`, KEY], ['pipe', 'ignore', 'pipe']);
    sender.child.stdin?.end(Buffer.alloc(2 * MIB)); // fits into the receiver's buffer, but not into the pipe
    await takesAll(sender);
    expect(await Promise.race([sender.ended, delay(700, 'it waits')])).to.equal('it waits');
    writeFileSync(bench.path('go'), '');
    expect((await sender.ended).status).to.equal(0);
    expect((await receiver.ended).stdout.toString().trim()).to.equal(`${2 * MIB}`);
  });

  it('transfer more than a thousand buffers, and keep the source', async () => {
    writeFileSync(bench.path('in'), numbers(72 * MIB)); // 1,152 buffers
    const { sent, received } = await transfer(['--buffer', '64KiB', bench.path('in')], ['--buffer', '64KiB', target]);
    expect([sent.status, received.status]).to.deep.equal([0, 0]);
    expect(await digestOf(target)).to.equal(await digestOf(bench.path('in')));
  });

  for (const killed of ['sender', 'receiver'] as const)
    it(`notice that the ${killed} died while the stream is idle`, async () => {
      const { sender, receiver } = await joined();
      const [dies, survives] = killed === 'sender' ? [sender, receiver] : [receiver, sender];
      dies.child.kill('SIGKILL');
      expect((await survives.ended).status).to.equal(5);
    });

  it('limit the wait for a peer, and keep waiting after one that sends nothing', async () => {
    const alone = await bench.rdrecv(['--connect-timeout', '0.3', '0', KEY]).ended;
    expect(alone.status).to.equal(3);
    expect(alone.stderr).to.match(
      /\nrdrecv: no peer connected within 0\.3 s \(to wait without a limit: --connect-timeout 0\)\n$/,
    );
    const receiver = bench.rdrecv(['0', KEY]);
    const port = await receiver.port();
    const silent = connect(port, '127.0.0.1').on('error', () => {});
    await once(silent, 'connect');
    expect((await bench.rdsend(['127.0.0.1', `${port}`, KEY, '/dev/null']).ended).status).to.equal(0);
    expect((await receiver.ended).status).to.equal(0);
    silent.destroy();
  });

  it('report each reason for a failed connection, and retry none in vain', async () => {
    const untilAHang = ['--connect-timeout', `${(2 * TEST_MS) / 1000}`];
    const somebody = createServer((socket) => socket.on('error', () => {}).end('220 mail\r\n')).listen(0, '127.0.0.1');
    await once(somebody, 'listening');
    const { port } = somebody.address() as AddressInfo;
    const receiver = bench.rdrecv(['-q', '0', KEY]);
    for (const [words, status, why] of [
      [[...untilAHang, 'no.such.host.invalid', '1', KEY], 3, /no\.such\.host\.invalid/],
      [['--connect-timeout', '0.2', '127.0.0.1', '1', KEY], 3, /127\.0\.0\.1:1.*connection refused/],
      [['--transport', 'rdma', '--connect-timeout', '0.2', '127.0.0.1', '1', KEY], 3, /rdma/],
      [[...untilAHang, '127.0.0.1', `${port}`, KEY], 3, /127\.0\.0\.1:\d+/],
      [
        [...untilAHang, '127.0.0.1', `${await receiver.port()}`, OTHER_KEY],
        4,
        /wrong key: the other side uses a different one/,
      ],
    ] as const) {
      const { status: ended, stderr } = await bench.rdsend([...words, '/dev/null']).ended;
      expect(ended, stderr).to.equal(status);
      expect(stderr)
        .to.match(/^rdsend: [^\n]*\n$/)
        .and.to.match(why)
        .and.not.to.match(/timed out/);
    }
    somebody.close();
  });

  it('keep waiting after wrong keys', async () => {
    const receiver = bench.rdrecv(['0', KEY]);
    const port = await receiver.port();
    for (const _ of [1, 2, 3])
      expect((await bench.rdsend(['127.0.0.1', `${port}`, OTHER_KEY, '/dev/null']).ended).status).to.equal(4);
    expect((await bench.rdsend(['127.0.0.1', `${port}`, KEY, '/dev/null']).ended).status).to.equal(0);
    expect((await receiver.ended).status).to.equal(0);
  });

  it('let a peer choose no path and no length, and use no name as a format', async () => {
    const { status, stderr } = await bench.rdrecv(['0', KEY, 'none/%s%n%99999d']).ended;
    expect(status).to.equal(7);
    expect(stderr).to.match(/none\/%s%n%99999d: no such file or directory\n$/);
    const receiver = bench.rdrecv(['0', KEY, target]);
    const port = await receiver.port();
    for (const length of [0, 23, 16_385, 2 ** 31, 2 ** 32 - 1]) {
      const liar = connect(port, '127.0.0.1');
      const turnedAway = new Promise((resolve) => liar.on('error', () => {}).on('close', resolve));
      const head = Buffer.alloc(64);
      head.writeUInt32LE(length);
      liar.write(head);
      await turnedAway;
    }
    expect(residentMib(receiver.pid)).to.be.below(24);
    expect((await bench.rdsend(['127.0.0.1', `${port}`, KEY, '/dev/null']).ended).status).to.equal(0);
    expect((await receiver.ended).status).to.equal(0);
    expect(readFileSync(target, 'utf8')).to.equal('');
  });

  it('send a message without waiting for the answer to the previous one', async () => {
    const { sender, receiver } = await joined();
    const port = await receiver.port();
    receiver.child.kill('SIGSTOP'); // so that it does not answer
    for (let written = 1024; written <= 6 * 1024; written += 1024) {
      sender.child.stdin?.write(Buffer.alloc(1024));
      await eventually(() => expect(unreadAt(port)).to.be.at.least(written));
    }
    receiver.child.kill('SIGCONT');
    sender.child.stdin?.end();
    expect((await sender.ended).status).to.equal(0);
    expect((await receiver.ended).stdout).to.have.length(6 * 1024 + 'begin'.length);
  });

  it('connect over IPv6', async () => {
    const receiver = bench.rdrecv(['--bind', '::1', '0', KEY]);
    const sender = bench.rdsend(['::1', `${await receiver.port()}`, KEY], ['pipe', 'ignore', 'pipe']);
    sender.child.stdin?.end('hello');
    expect((await sender.ended).status).to.equal(0);
    expect((await receiver.ended).stdout.toString()).to.equal('hello');
  });

  async function transfer(
    from: readonly string[],
    to: readonly string[],
  ): Promise<{ readonly sent: Ended; readonly received: Ended }> {
    const [options, sink] = split(to);
    const receiver = bench.rdrecv([...options, '0', KEY, ...sink]);
    const [given, source] = split(from);
    const sender = bench.rdsend([...given, '127.0.0.1', `${await receiver.port()}`, KEY, ...source]);
    const [sent, received] = await Promise.all([sender.ended, receiver.ended]);
    return { sent, received };
  }

  /** Starts two ends that have carried one word; the sender's input stays open. */
  async function joined(): Promise<{ readonly sender: Program; readonly receiver: Program }> {
    const receiver = bench.rdrecv(['0', KEY]);
    const sender = bench.rdsend(['127.0.0.1', `${await receiver.port()}`, KEY], ['pipe', 'ignore', 'pipe']);
    sender.child.stdin?.write('begin');
    await once(receiver.child.stdout ?? expect.fail(), 'data');
    return { sender, receiver };
  }
});

/** Splits words into options and the rest, which begins with a file or a command. */
function split(words: readonly string[]): readonly [options: readonly string[], rest: readonly string[]] {
  const rest = words[0] === '--buffer' ? 2 : 0;
  return [words.slice(0, rest), words.slice(rest)];
}

/** Bytes that encode their own position. */
function numbers(bytes: number): Buffer {
  return Buffer.from(Uint32Array.from({ length: bytes / 4 }, (_, index) => index).buffer);
}

/** Number of unread bytes at that port: rx_queue of /proc/net/tcp. */
function unreadAt(port: number): number {
  const local = `0100007F:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  const rows = ['tcp', 'tcp6'].flatMap((kind) => readFileSync(`/proc/net/${kind}`, 'utf8').split('\n'));
  const queues = rows.flatMap((row) => {
    const [, address = '', , state, queue = ''] = row.trim().split(/\s+/);
    return address.endsWith(local) && state === ESTABLISHED ? [Number.parseInt(queue.split(':')[1] ?? '0', 16)] : [];
  });
  return Math.max(0, ...queues);
}

const ESTABLISHED = '01';

/** Waits until the program has taken all data written to it so far. */
async function takesAll({ child }: Program): Promise<void> {
  await eventually(() => expect(child.stdin?.writableLength).to.equal(0));
}

function residentMib(pid: number): number {
  return Number(/^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024;
}

/** Regular files that the process has open, also those without a name. */
function filesOf(pid: number): Stats[] {
  const open = readdirSync(`/proc/${pid}/fd`).map((fd) => statSync(`/proc/${pid}/fd/${fd}`));
  return open.filter((file) => file.isFile());
}
