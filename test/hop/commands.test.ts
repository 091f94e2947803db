// SPDX-License-Identifier: Apache-2.0
// Producer and consumer run by rdsend and rdrecv:
// a truncated stream is never taken for a complete one.
import { existsSync, rmSync } from 'node:fs';
import { expect } from 'chai';
import { eventually } from '../support/eventually.ts';
import { type Ended, KEY, PATIENT, type Program, useBench } from '../support/programs.ts';

/** Creates `committed` when it has seen the end of its input. */
const COMMITTER = ['--', 'sh', '-c', 'cat > seen; touch committed'];

describe('rdsend and rdrecv run commands', () => {
  const bench = useBench(PATIENT);

  beforeEach(() => {
    for (const name of ['seen', 'committed']) rmSync(bench.path(name), { force: true });
  });

  it('a complete stream is committed', async () => {
    const { sent, received } = await run(['--', 'seq', '1000'], COMMITTER);
    expect([sent.status, received.status]).to.deep.equal([0, 0]);
    expect(existsSync(bench.path('committed'))).to.equal(true);
  });

  it('the consumer of a producer that fails is killed before it sees the end', async () => {
    const { sent, received } = await run(['--', 'sh', '-c', 'seq 1000; exit 3'], COMMITTER);
    expect([sent.status, received.status]).to.deep.equal([3, 9]);
    expect(sent.stderr).to.include('the producer exited with status 3');
    expect(received.stderr).to.include('the producer exited with status 3');
    expect(existsSync(bench.path('committed'))).to.equal(false);
  });

  it('also when the producer is killed', async () => {
    const { sent } = await run(['--', 'sh', '-c', 'seq 1000; kill -KILL $$'], COMMITTER);
    expect(sent.status).to.equal(137);
    expect(existsSync(bench.path('committed'))).to.equal(false);
  });

  for (const killed of ['sender', 'receiver'] as const)
    it(`also when the ${killed} is killed`, async () => {
      const { sender, receiver } = await start(['--', 'sh', '-c', 'seq 1000; sleep 1000'], COMMITTER);
      await eventually(() => expect(existsSync(bench.path('seen'))).to.equal(true));
      const consumers = await childrenOf(receiver.pid);
      (killed === 'sender' ? sender : receiver).child.kill('SIGKILL');
      expect((await (killed === 'sender' ? receiver : sender).ended).status).to.equal(5);
      await eventually(async () => expect(await consumers()).to.equal(''));
      expect(existsSync(bench.path('committed'))).to.equal(false);
    });

  it('no command runs without a connection', async () => {
    const command = ['--', 'touch', bench.path('committed')];
    const receiver = bench.rdrecv(['--connect-timeout', '0.3', '0', KEY, ...command]);
    expect((await receiver.ended).status).to.equal(3);
    const sender = bench.rdsend(['--connect-timeout', '60', '127.0.0.1', '1', KEY, ...command]);
    const waiting = await eventually(() => childrenOf(sender.pid));
    sender.child.kill('SIGKILL');
    await eventually(async () => expect(await waiting()).to.equal(''));
    expect(existsSync(bench.path('committed'))).to.equal(false);
  });

  it('a consumer that fails ends rdrecv', async () => {
    const { sent, received } = await run(['/dev/null'], ['--', 'sh', '-c', 'cat; exit 7']);
    expect([sent.status, received.status]).to.deep.equal([0, 7]);
    expect(received.stderr).to.include('the consumer exited with status 7');
  });

  it('a consumer that closes early ends an idle producer', async () => {
    const { sent, received } = await run(['--', 'sh', '-c', 'echo hello; sleep 1000'], ['--', 'head', '-c', '5']);
    expect(received.status).to.equal(0);
    expect(received.stdout.toString()).to.equal('hello');
    expect(sent.signal).to.equal('SIGPIPE');
  });

  it('a command that does not exist is named', async () => {
    const { sent, received } = await run(['--', 'no-such-command'], []);
    expect(sent.stderr).to.equal('rdsend: cannot start no-such-command: no such file or directory\n');
    expect([sent.status, received.status]).to.deep.equal([2, 9]);
  });

  async function run(
    produce: readonly string[],
    consume: readonly string[],
  ): Promise<{ sent: Ended; received: Ended }> {
    const { sender, receiver } = await start(produce, consume);
    const [sent, received] = await Promise.all([sender.ended, receiver.ended]);
    return { sent, received };
  }

  async function start(
    produce: readonly string[],
    consume: readonly string[],
  ): Promise<{ sender: Program; receiver: Program }> {
    const receiver = bench.rdrecv(['0', KEY, ...consume]);
    const sender = bench.rdsend(['127.0.0.1', `${await receiver.port()}`, KEY, ...produce]);
    return { sender, receiver };
  }

  /** Returns a function that lists which of the current children are still alive. */
  async function childrenOf(pid: number): Promise<() => Promise<string>> {
    const { stdout } = await bench.bash(`ps -o pid= --ppid ${pid}`).ended;
    const pids = stdout.toString().trim().split(/\s+/);
    expect(pids).to.have.length(2); // the command and its guard
    return async () => {
      return (await bench.bash(`ps -o pid=,stat= -p ${pids.join(',')} | grep -v Z`).ended).stdout.toString();
    };
  }
});
