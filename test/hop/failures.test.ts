// SPDX-License-Identifier: Apache-2.0
// Peers that die, stall or guess keys, and consumers that exit early.
import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import { KEY, PATIENT, type Program, useBench } from '../support/programs.ts';

const OTHER_KEY = 'cd'.repeat(32);
/** Limit of silence: three times as long as a live peer is silent. */
const STALL_S = 3;
/** Also long enough if silence is excused until another connection has failed. */
const LONGER_THAN_A_STALL_MS = 1000 * STALL_S + 2000;

describe('rdsend and rdrecv when something goes wrong', () => {
  const bench = useBench(PATIENT);

  it('reject a wrong key, and a peer of another protocol, and keep waiting', async () => {
    const receiver = bench.rdrecv(['0', KEY]);
    const port = await receiver.port();
    const intruder = connect(port, '127.0.0.1');
    const turnedAway = new Promise((resolve) => intruder.on('error', () => {}).on('close', resolve));
    intruder.write('GET / HTTP/1.0\r\n\r\n'.repeat(10));
    await turnedAway;
    const guess = await bench.rdsend(['127.0.0.1', `${port}`, OTHER_KEY, '/dev/null']).ended;
    expect(guess.status).to.equal(4);
    expect((await bench.rdsend(['127.0.0.1', `${port}`, KEY, '/dev/null']).ended).status).to.equal(0);
    const received = await receiver.ended;
    expect(received.status).to.equal(0);
    expect(received.stderr.match(/rejected/g)).to.have.length(2);
  });

  it('connect in spite of a hundred silent connections', async () => {
    const receiver = bench.rdrecv(['0', KEY]);
    const port = await receiver.port();
    const crowd = Array.from({ length: 100 }, () => connect(port, '127.0.0.1').on('error', () => {}));
    await Promise.all(crowd.map((socket) => once(socket, 'connect')));
    expect((await bench.rdsend(['127.0.0.1', `${port}`, KEY, '/dev/null']).ended).status).to.equal(0);
    expect((await receiver.ended).status).to.equal(0);
    for (const socket of crowd) socket.destroy();
  });

  it('find the right address among several of a name', async () => {
    const receiver = bench.rdrecv(['--bind', '127.0.0.1', '0', KEY]);
    const port = `${await receiver.port()}`;
    expect((await bench.rdsend(['localhost', port, KEY, '/dev/null']).ended).status).to.equal(0);
    expect((await receiver.ended).status).to.equal(0);
  });

  it('name the host that has no address', async () => {
    const { status, stderr } = await bench.rdsend(['no.such.host.invalid', '1', KEY, '/dev/null']).ended;
    expect(status).to.equal(3);
    expect(stderr).to.match(/^rdsend: .*no\.such\.host\.invalid/);
  });

  it('report it when another program answers', async () => {
    const other = createServer((socket) => socket.on('error', () => {}).end('SSH-2.0-OpenSSH_9.2p1\r\n')).listen(
      0,
      '127.0.0.1',
    );
    await once(other, 'listening');
    const { port } = other.address() as AddressInfo;
    const { status, stderr } = await bench.rdsend(['127.0.0.1', `${port}`, KEY, '/dev/null']).ended;
    other.close();
    expect(status).to.equal(3);
    expect(stderr).to.match(/^rdsend: 127\.0\.0\.1:/);
  });

  it('listen only on the address of --bind', async () => {
    const { status, stderr } = await bench.rdrecv(['--bind', '192.0.2.1', '0', KEY]).ended;
    expect(status).to.equal(3);
    expect(stderr).to.equal('rdrecv: cannot listen on 192.0.2.1: cannot assign requested address\n');
  });

  it('a receiver without a time limit accepts any later sender', async () => {
    const receiver = bench.rdrecv(['--connect-timeout', '0', '0', KEY]);
    const sender = bench.rdsend(['127.0.0.1', `${await receiver.port()}`, KEY, '/dev/null']);
    expect((await sender.ended).status).to.equal(0);
    expect((await receiver.ended).status).to.equal(0);
  });

  it('a sender cannot try forever', async () => {
    const { status, stderr } = await bench.rdsend(['--connect-timeout', '0', '127.0.0.1', '1', KEY, '/dev/null']).ended;
    expect(status).to.equal(2);
    expect(stderr).to.match(/^rdsend: --connect-timeout must be a number of seconds, at least 0\.001, not 0\n/);
  });

  for (const stopped of ['sender', 'receiver'] as const)
    it(`a stopped ${stopped} is a stall`, async () => {
      const { sender, receiver } = await connected(['--stall-timeout', `${STALL_S}`]);
      const [frozen, survivor] = stopped === 'sender' ? [sender, receiver] : [receiver, sender];
      frozen.child.kill('SIGSTOP');
      const { status, stderr } = await survivor.ended;
      expect(status).to.equal(5);
      expect(stderr).to.match(/received nothing from .* for 3 s/);
      frozen.child.kill('SIGCONT');
      expect((await frozen.ended).status).to.equal(5);
    });

  it('being stopped does not count as a stall of the peer', async () => {
    const { sender, receiver } = await connected(['--stall-timeout', `${STALL_S}`]);
    sender.child.kill('SIGSTOP');
    receiver.child.kill('SIGSTOP');
    await delay(LONGER_THAN_A_STALL_MS);
    receiver.child.kill('SIGCONT');
    sender.child.kill('SIGCONT');
    sender.child.stdin?.end('end');
    expect((await sender.ended).status).to.equal(0);
    expect((await receiver.ended).stdout.toString()).to.equal('beginend');
  });

  it('a consumer that does not read is not a stall', async () => {
    const options = `${PATIENT} --stall-timeout ${STALL_S}`;
    const receiver = bench.bash(`rdrecv ${options} 0 ${KEY} | { sleep ${STALL_S + 2}; wc -c; }`);
    const sender = bench.bash(`head -c 30M /dev/zero | rdsend ${options} 127.0.0.1 ${await receiver.port()} ${KEY}`);
    expect((await sender.ended).status).to.equal(0);
    expect((await receiver.ended).stdout.toString().trim()).to.equal(`${30 * 1024 * 1024}`);
  });

  it('a consumer that closes ends both by SIGPIPE, as in a local pipe', async () => {
    const receiver = bench.bash(`rdrecv ${PATIENT} 0 ${KEY} | head -c 5; exit \${PIPESTATUS[0]}`);
    const sender = bench.bash(
      `yes | rdsend ${PATIENT} 127.0.0.1 ${await receiver.port()} ${KEY}; exit \${PIPESTATUS[1]}`,
    );
    const [sent, received] = await Promise.all([sender.ended, receiver.ended]);
    expect([sent.status, received.status, sent.stderr]).to.deep.equal([141, 141, '']);
    expect(received.stdout.toString()).to.equal('y\ny\ny');
  });

  for (const kind of ['pipe', 'socket'] as const)
    it(`a consumer that leaves an idle stream (${kind}) ends both`, async () => {
      const receiver =
        kind === 'pipe'
          ? bench.bash(`rdrecv ${PATIENT} 0 ${KEY} | head -c 5; exit \${PIPESTATUS[0]}`)
          : bench.rdrecv(['0', KEY]);
      const sender = bench.rdsend(['127.0.0.1', `${await receiver.port()}`, KEY], ['pipe', 'ignore', 'pipe']);
      sender.child.stdin?.write('hello');
      if (kind === 'socket') await once(receiver.child.stdout ?? expect.fail(), 'data');
      receiver.child.stdout?.destroy();
      expect((await sender.ended).signal).to.equal('SIGPIPE');
      const { status, signal } = await receiver.ended;
      expect(kind === 'pipe' ? status : signal).to.equal(kind === 'pipe' ? 141 : 'SIGPIPE');
    });

  it('a signal is reported to the other side', async () => {
    const { sender, receiver } = await connected();
    sender.child.kill('SIGTERM');
    expect((await sender.ended).signal).to.equal('SIGTERM');
    const { status, stderr } = await receiver.ended;
    expect(status).to.equal(9);
    expect(stderr).to.include('ended by SIGTERM');
  });

  it('an output that was made non-blocking is waited for', async () => {
    const nonBlocking = 'use Fcntl; fcntl(STDOUT, F_SETFL, O_WRONLY | O_NONBLOCK); exec @ARGV';
    const receiver = bench.bash(`perl -e '${nonBlocking}' rdrecv ${PATIENT} 0 ${KEY} | { sleep 1; wc -c; }`);
    const sender = bench.bash(`head -c 20M /dev/zero | rdsend ${PATIENT} 127.0.0.1 ${await receiver.port()} ${KEY}`);
    expect((await sender.ended).status).to.equal(0);
    expect((await receiver.ended).stdout.toString().trim()).to.equal(`${20 * 1024 * 1024}`);
  });

  /** Starts two ends that are connected and have carried one word; the sender's input stays open. */
  async function connected(options: readonly string[] = []): Promise<{ sender: Program; receiver: Program }> {
    const receiver = bench.rdrecv([...options, '0', KEY]);
    const sender = bench.rdsend([...options, '127.0.0.1', `${await receiver.port()}`, KEY], ['pipe', 'ignore', 'pipe']);
    sender.child.stdin?.write('begin');
    await once(receiver.child.stdout ?? expect.fail(), 'data');
    return { sender, receiver };
  }
});
