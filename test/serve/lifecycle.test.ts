// SPDX-License-Identifier: Apache-2.0
// The life of a serving receiver: limits, reloaded keys, signals, memory, the end after SIGKILL.
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { expect } from 'chai';
import { allGone, eventsOf, Talker, useCopyPlace } from '../support/copy-server.ts';
import { eventually } from '../support/eventually.ts';
import { childrenOf, signalProcess } from '../support/processes.ts';

const BIG_BYTES = 12_000_000;
const ROUNDS = 60;
/** Growth of the server itself, which reads no data of its clients. */
const GROWTH_MAX_KIB = 1024;

interface Average {
  readonly seconds: number;
  readonly received_per_s: number;
}

describe('the life of a serving receiver', () => {
  const place = useCopyPlace();
  before(() => {
    mkdirSync(place.path('tree'));
    writeFileSync(place.path('tree/file'), 'content\n');
    writeFileSync(place.path('big'), Buffer.alloc(BIG_BYTES, 'a stream that takes a while\n'));
  });

  it('tells one client too many that it is full', async () => {
    const server = await place.serve('--max-clients', '2');
    const [first] = await Promise.all([place.client(server), place.client(server)]);
    const third = await place.rdcp('tree/file', server.url('x'));
    expect(third.status).to.equal(125);
    expect(third.stderr).to.equal(`rdcp: cannot reach ${server.url('').slice(0, -1)}: the server is full: 2 clients\n`);
    first?.socket.destroy();
    await eventually(() => expect(server.stderr()).to.include('ended without a copy'));
    expect(await place.rdcp('tree/file', server.url('x'))).to.include({ status: 0 });
  });

  it('keeps a quarter of its places for other addresses than one', async () => {
    const server = await place.serve('--max-clients', '4');
    for (let i = 0; i < 3; i++) await place.client(server);
    const { status, stderr } = await place.rdcp('tree/file', server.url('x'));
    expect(status).to.equal(125);
    expect(stderr).to.include(': the server is full for this address: 3 sessions\n');
    await place.client(server, place.key, 'default', '127.0.0.2');
  });

  it('keeps a quarter of its places for other clients than one, if it has several', async () => {
    const [a, b] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)];
    const client = { a: { key: a.toString('hex') }, b: { key: b.toString('hex') } };
    const config = place.write('two.json', JSON.stringify({ client }));
    const server = await place.serve('--config', config, '--max-clients', '4');
    for (let i = 1; i <= 3; i++) await place.client(server, a, 'a', `127.0.0.${i}`);
    const fourth = new Talker(server.port, a, 'a', '127.0.0.4');
    place.keep(fourth.socket);
    expect(await fourth.line()).to.include('the server is full for this client: 3 sessions');
    await place.client(server, b, 'b', '127.0.0.5');
  });

  it('reads its keys again on HUP, and keeps the old ones if the new are invalid', async () => {
    const file = place.write('rotated', 'the first key of several\n');
    const config = place.write('keys.json', JSON.stringify({ client: { a: { keyfile: file } } }));
    const server = await place.serve('--config', config);
    const copy = (key: string) => place.rdcp('--keyfile', place.write('own', key), 'tree/file', server.url('x', 'a'));
    expect(await copy('the first key of several')).to.include({ status: 0 });
    const running = place.start('--keyfile', 'own', '--limit', '4M', 'big', server.url('big', 'a'));
    await eventually(() => expect(server.stderr()).to.include('began writing big'));
    writeFileSync(file, 'the second key of them\n');
    signalProcess(server.pid, 'SIGHUP');
    await eventually(() => expect(server.stderr()).to.include('reloaded the keys of 1 client\n'));
    expect((await copy('the first key of several')).stderr).to.include('the server has a different key for a');
    expect(await copy('the second key of them')).to.include({ status: 0 });
    writeFileSync(config, '{"client": {"a": {"keyfile": 5}}}');
    signalProcess(server.pid, 'SIGHUP');
    await eventually(() =>
      expect(server.stderr()).to.match(/keeping the old keys: .*keys\.json: client a: keyfile is not a string/),
    );
    chmodSync(config, 0o644);
    signalProcess(server.pid, 'SIGHUP');
    await eventually(() => expect(server.stderr()).to.match(/keeping the old keys: other users can access/));
    expect(await copy('the second key of them')).to.include({ status: 0 });
    expect(await running.ended).to.include({ status: 0 });
  });

  it('lets sessions finish after TERM, and accepts no more', async () => {
    const server = await place.serve();
    // The client keeps its session open until this was checked; so does the copy, unless it finishes first.
    const { socket } = await place.client(server);
    const running = place.start('--limit', '4M', 'big', server.url('drained'));
    await eventually(() => expect(server.stderr()).to.include('began writing'));
    signalProcess(server.pid, 'SIGTERM');
    await eventually(() =>
      expect(server.stderr()).to.match(/accepting no more clients; (1 session is|2 sessions are) finishing/),
    );
    expect((await place.rdcp('tree/file', server.url('x'))).stderr).to.include('connection refused');
    expect(await running.ended).to.include({ status: 0 });
    socket.end();
    expect(await server.ended).to.include({ status: 0 });
    expect(server.stderr()).to.include('writing drained: complete');
  });

  for (const [how, words] of [
    ['a second TERM', []],
    ['--drain-timeout', ['--drain-timeout', '1']],
  ] as const)
    it(`ends sessions by ${how}`, async () => {
      const server = await place.serve(...words);
      const running = place.start('--limit', '20k', 'big', server.url('cut'));
      await eventually(() => expect(server.stderr()).to.include('began writing'));
      const pids = childrenOf(server.pid);
      signalProcess(server.pid, 'SIGTERM');
      await eventually(() => expect(server.stderr()).to.include('accepting no more clients'));
      if (words.length === 0) signalProcess(server.pid, 'SIGTERM');
      expect(await server.ended).to.include({ status: 0 });
      await allGone(pids);
      expect((await running.ended).status).to.equal(125);
      expect(server.stderr()).to.include('writing cut: ended early');
    });

  it('ends all of its sessions when it is killed', async () => {
    const server = await place.serve();
    const running = place.start('--limit', '20k', 'big', server.url('orphan'));
    await eventually(() => expect(server.stderr()).to.include('began writing'));
    const pids = childrenOf(server.pid).flatMap((pid) => [pid, ...childrenOf(pid)]);
    signalProcess(server.pid, 'SIGKILL');
    await allGone(pids);
    expect((await running.ended).status).to.equal(125);
  });

  it('uses no more memory and descriptors after many sessions', async () => {
    const server = await place.serve();
    const round = async () => {
      const { socket, closed } = await place.client(server);
      socket.end();
      await closed;
    };
    for (let i = 0; i < ROUNDS / 2; i++) await round();
    const before = footprint(server.pid);
    for (let i = 0; i < ROUNDS; i++) await round();
    await eventually(() => expect(childrenOf(server.pid)).to.deep.equal([]));
    const after = footprint(server.pid);
    expect(after - before).to.be.at.most(GROWTH_MAX_KIB);
  });

  it('prints averages while there is traffic', async () => {
    const server = await place.serve('--json');
    expect(await place.rdcp('big', server.url('averaged'))).to.include({ status: 0 });
    const lines = await eventually(() => {
      const averages = eventsOf(server.stderr(), 'averages').map((event) => event.averages as readonly Average[]);
      // Averages over 10 s are printed every 10 s: a slow copy contributes to several. They have 6 digits.
      const received = averages.reduce((sum, [ten]) => sum + (ten?.received_per_s ?? 0) * 10, 0);
      expect(received, server.stderr()).to.be.at.least(BIG_BYTES * 0.9999);
      return averages;
    });
    for (const line of lines) expect(line.map(({ seconds }) => seconds)).to.deep.equal([10, 60, 300]);
  });
});

function footprint(pid: number): number {
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]);
}
