// SPDX-License-Identifier: Apache-2.0
// Files as sources and sinks.
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { expect } from 'chai';
import { execaSync } from 'execa';
import { eventually } from '../support/eventually.ts';
import { needsRoot, needsSightOfPrograms, needsTool } from '../support/needs.ts';
import { digestOf, KEY, PATIENT, useBench } from '../support/programs.ts';

/** Removes the file from the page cache. */
const FORGET = 'dd of=in oflag=nocache conv=notrunc,fdatasync count=0 2>/dev/null';
const MEMORIES = [
  ['in memory', 'cat in > /dev/null'],
  ['only on disk', FORGET],
  ['partly in memory', `${FORGET}; dd if=in of=/dev/null bs=1000 skip=3000 count=2500 2>/dev/null`],
] as const;

describe('rdsend and rdrecv read and write files', () => {
  const bench = useBench(PATIENT);
  const target = bench.path('d/target');
  const text = 'line\n'.repeat(100_000);

  beforeEach(() => {
    execaSync('rm', ['-rf', bench.path('d')]);
    mkdirSync(bench.path('d'));
    writeFileSync(bench.path('in'), text);
  });

  it('a new file gets the mode that the umask allows', async () => {
    await delivered(target);
    expect(statSync(target).mode & 0o777).to.equal(0o666 & ~process.umask());
  });

  it('a replaced file keeps mode and owner', async function () {
    needsRoot(this);
    writeFileSync(target, 'old');
    execaSync('chown', ['1234:4321', target]);
    execaSync('chmod', ['4640', target]);
    await delivered(target);
    const { mode, uid, gid } = statSync(target);
    expect({ mode: mode & 0o7777, uid, gid }).to.deep.equal({ mode: 0o4640, uid: 1234, gid: 4321 });
  });

  it('symbolic links are followed, also one without a target', async () => {
    mkdirSync(bench.path('d/elsewhere'));
    symlinkSync('elsewhere/real', target);
    await delivered(target);
    await delivered(target);
    expect(lstatSync(target).isSymbolicLink()).to.equal(true);
    expect(readFileSync(bench.path('d/elsewhere/real'), 'utf8')).to.equal(text);
    expect(readdirSync(bench.path('d/elsewhere'))).to.deep.equal(['real']);
  });

  it('a fifo is written and read in place', async () => {
    execaSync('mkfifo', [bench.path('d/in'), target]);
    const reader = bench.bash('cat d/target');
    const writer = bench.bash('cat in > d/in');
    const { sent, received } = await bench.transfer('d/in', target);
    expect([sent.status, received.status]).to.deep.equal([0, 0]);
    expect((await reader.ended).stdout.toString()).to.equal(text);
    expect((await writer.ended).status).to.equal(0);
    expect(lstatSync(target).isFIFO()).to.equal(true);
  });

  it('an empty stream also opens and ends a fifo', async () => {
    execaSync('mkfifo', [target]);
    const reader = bench.bash('cat d/target');
    const { sent, received } = await bench.transfer('/dev/null', target);
    expect([sent.status, received.status]).to.deep.equal([0, 0]);
    expect((await reader.ended).stdout.length).to.equal(0);
  });

  for (const [name, prepare] of MEMORIES)
    it(`a large file that is ${name} arrives completely`, async () => {
      await bench.bash(`head -c 9438291 /dev/urandom > in; ${prepare}`).ended;
      const { sent, received } = await bench.transfer('in', target);
      expect([sent.status, received.status, sent.stderr]).to.deep.equal([0, 0, '']);
      expect(await digestOf(target)).to.equal(await digestOf(bench.path('in')));
    });

  for (const mode of [[], ['--encrypt', 'always'], ['--compress', 'zstd'], ['--buffer', '64KiB']])
    it(`a file with holes arrives with holes${mode.map((word) => ` ${word}`).join('')}`, async () => {
      await bench.bash(
        'rm in; truncate -s 100M in; for at in 0 30 31 99; do echo $at | dd of=in bs=1M seek=$at conv=notrunc; done',
      ).ended;
      const { sent, received } = await bench.transfer('in', target, mode);
      expect([sent.status, received.status, sent.stderr]).to.deep.equal([0, 0, '']);
      expect((await bench.bash('cmp in d/target').ended).status).to.equal(0);
      expect(statSync(target).blocks).to.be.at.most(statSync(bench.path('in')).blocks);
    });

  it('the old contents of a device are overwritten, also with zeros', async function () {
    needsRoot(this);
    needsTool(this, 'losetup');
    const script = `head -c 2M /dev/zero | tr '\\0' x > disk; truncate -s 2M in
      device=$(losetup --find --show disk) || exit; trap 'losetup --detach $device' EXIT
      rdrecv ${PATIENT} 0 $1 $device 2> port & until port=$(grep -soE '[0-9]+$' port); do sleep 0.01; done
      rdsend ${PATIENT} 127.0.0.1 $port $1 in && wait $! && cmp in $device && cmp in disk`;
    const { status, stderr } = await bench.bash(script, KEY).ended;
    expect({ status, stderr }).to.deep.equal({ status: 0, stderr: '' });
  });

  for (const offset of [0, 5, 2_097_152])
    it(`a large file as standard input is read from its offset ${offset}`, async () => {
      await bench.bash(`head -c 9438291 /dev/urandom > in; ${FORGET}`).ended;
      const receiver = bench.rdrecv(['0', KEY, target]);
      const script = `exec < in; head -c $2 > /dev/null; rdsend -q ${PATIENT} 127.0.0.1 $1 $3; wc -c`;
      const sent = await bench.bash(script, `${await receiver.port()}`, `${offset}`, KEY).ended;
      expect((await receiver.ended).status).to.equal(0);
      expect([sent.stderr, sent.stdout.toString().trim()]).to.deep.equal(['', '0']);
      expect((await bench.bash('tail -c +$1 in | cmp - d/target', `${offset + 1}`).ended).status).to.equal(0);
    });

  it('a source that cannot be read is not an empty stream', async () => {
    const missing = await bench.rdsend(['127.0.0.1', '1', KEY, 'missing']).ended;
    expect(missing.status).to.equal(6);
    expect(missing.stderr).to.equal('rdsend: cannot read missing: no such file or directory\n');
  });

  it('a sink that cannot be written ends rdrecv before a connection', async () => {
    for (const sink of ['missing/target', 'missing/target/', 'in/'])
      expect((await bench.rdrecv(['0', KEY, sink]).ended).status).to.equal(7);
  });

  for (const killed of ['sender', 'receiver'] as const)
    it(`a killed ${killed} leaves only the old file`, async function () {
      needsSightOfPrograms(this);
      writeFileSync(target, 'old');
      const receiver = bench.rdrecv(['-v', '0', KEY, target]);
      const sender = bench.rdsend(['127.0.0.1', `${await receiver.port()}`, KEY], ['pipe', 'ignore', 'pipe']);
      sender.child.stdin?.write(text);
      await eventually(() => expect(bytesReadBy(sender.pid)).to.be.at.least(text.length));
      (killed === 'sender' ? sender : receiver).child.kill('SIGKILL');
      const survivor = await (killed === 'sender' ? receiver : sender).ended;
      expect(survivor.status).to.equal(5);
      expectUntouched();
    });

  async function delivered(sink: string): Promise<void> {
    const { sent, received } = await bench.transfer('in', sink);
    expect([sent.status, received.status, sent.stderr]).to.deep.equal([0, 0, '']);
    expect(readFileSync(sink, 'utf8')).to.equal(text);
  }

  function expectUntouched(): void {
    expect(readdirSync(bench.path('d'))).to.deep.equal(['target']);
    expect(readFileSync(target, 'utf8')).to.equal('old');
  }
});

/** Bytes that a process has read so far (rchar of proc(5)). */
function bytesReadBy(pid: number): number {
  const io = `/proc/${pid}/io`;
  return existsSync(io) ? Number(/^rchar: (\d+)/.exec(readFileSync(io, 'utf8'))?.[1] ?? 0) : 0;
}
