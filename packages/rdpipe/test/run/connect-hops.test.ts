import { expect } from 'chai';
import { HopError } from '../../src/model/errors.ts';
import type { Candidate, HopLink } from '../../src/model/plan.ts';
import type { AgentEvent, AgentRequest, HopEnd } from '../../src/model/protocol.ts';
import { beginListening, connectHops } from '../../src/run/connect-hops.ts';
import type { HopConnection } from '../../src/run/hop-connection.ts';
import { connectedBy, notesOf, relayWarning } from '../../src/run/hop-messages.ts';
import { time } from '../frozen-time.ts';
import { type Answer, type FakeAgents, fakeAgents } from './fake-agents.ts';
import { connected, hop } from './sample.ts';

const TCP = { transport: 'tcp', from: null, device: null } as const;
const DIRECT: Candidate = { ...TCP, dialer: 'sender', way: 'address', host: '10.0.0.2', why: 'ssh address' };
const REVERSE: Candidate = { ...TCP, dialer: 'receiver', way: 'address', host: '10.0.0.1', why: 'receiver dials' };
const FORWARD: Candidate = {
  ...TCP,
  dialer: 'sender',
  way: 'forward',
  host: '127.0.0.1',
  why: 'forwarded through ssh',
};
const RELAY: Candidate = { ...TCP, dialer: 'sender', way: 'relay', host: '10.0.0.2', why: 'relayed over ssh' };
const RDMA: Candidate = {
  transport: 'rdma',
  dialer: 'sender',
  way: 'address',
  host: '10.1.0.2',
  from: '10.1.0.1',
  device: 'mlx5_0',
  why: 'RoCE v2, 100 Gb/s',
};
const PORTS: Readonly<Record<HopEnd, number>> = { send: 41000, recv: 42000 };
const FORWARDED = { socketPath: '/tmp/x/forward', close: async () => {} };

describe('connectHops', () => {
  // Each test sets how much of the time limit passes.
  beforeEach(() => time.freezeAll());
  afterEach(() => time.reset());

  it('has the receiver listen and the sender dial its port', async () => {
    const agents = fakeAgents(answers({ dial: 'accept' }));
    const [connection] = await connect(agents, [DIRECT, REVERSE]);
    await nextTurn();
    expect(agents.sent).to.deep.equal([
      { session: 's2', request: { op: 'listen', link: 1, end: 'recv', transport: 'tcp', bind: '10.0.0.2' } },
      {
        session: 's1',
        request: {
          op: 'dial',
          link: 1,
          end: 'send',
          addresses: [{ host: '10.0.0.2', port: 42000, transport: 'tcp', from: null }],
        },
      },
    ]);
    expect(connectedBy(connection)).to.equal('10.0.0.2:42000, ssh address');
    expect(notesOf(connection)).to.deep.equal([]);
  });

  it('has further addresses of a host dialled with the first one', async () => {
    const agents = fakeAgents(answers({ dial: 'accept' }));
    await connect(agents, [{ ...DIRECT, others: [{ host: '10.1.0.2', from: null }] }]);
    const [first, second] = ['10.0.0.2', '10.1.0.2'].map((host) => ({
      host,
      port: 42000,
      transport: 'tcp',
      from: null,
    }));
    expect(agents.sent.at(-1)?.request).to.deep.include({ op: 'dial', addresses: [first, second], rails: true });
  });

  it('reverses the direction when the first path is refused, and notes it', async () => {
    const agents = fakeAgents(answers({ send: 'refuse', recv: 'accept' }));
    const [connection] = await connect(agents, [DIRECT, REVERSE]);
    expect(agents.sent.map(({ request }) => request.op)).to.deep.equal(['listen', 'dial', 'listen', 'dial']);
    expect(notesOf(connection)).to.deep.equal([
      '10.0.0.2:42000: connection refused (ssh address)',
      'connected by 10.0.0.1:41000, receiver dials',
    ]);
  });

  it('relays through both ssh sessions after direct paths were refused, and warns', async () => {
    const back = { port: 40_022, close: async () => {} };
    const agents = fakeAgents(answers({ host: '127.0.0.1' }), 60_000, FORWARDED, back);
    const [connection] = await connect(agents, [DIRECT, RELAY]);
    const dial = agents.sent.at(-1);
    expect(dial?.session).to.equal('s1');
    const addresses = [{ host: '127.0.0.1', port: 40_022, transport: 'tcp', from: null }];
    expect(dial?.request).to.deep.include({ op: 'dial', addresses });
    expect(notesOf(connection)).to.deep.equal(['10.0.0.2:42000: connection refused (ssh address)', 'relayed over ssh']);
    expect(relayWarning(connection, agents.label)).to.match(/^h1→h2 relayed over ssh through this machine/);
  });

  it('adds the next path when the first one has not answered for its share of a quarter of the time', async () => {
    const agents = fakeAgents(answers({ send: 'silence', recv: 'accept' }), 400);
    const connecting = connect(agents, [DIRECT, REVERSE]);
    await time.pass(49);
    expect(dials(agents)).to.equal(1);
    await time.pass(1);
    const [connection] = await connecting;
    expect(notesOf(connection)).to.deep.equal([
      '10.0.0.2:42000: no answer (ssh address)',
      'connected by 10.0.0.1:41000, receiver dials',
    ]);
  });

  it('relays after a quarter of the time at the latest, and at once for a later hop between the hosts', async () => {
    const back = { port: 40_022, close: async () => {} };
    const silent = answers({ dial: 'silence' });
    const relays: Answer = (request, session) =>
      request.op === 'dial' && hostOf(request) === '127.0.0.1' ? behave('accept', request) : silent(request, session);
    const agents = fakeAgents(relays, 400, FORWARDED, back);
    const direct = [RDMA, { ...RDMA, host: '10.1.0.3' }, DIRECT, REVERSE, { ...DIRECT, host: '10.0.0.3' }];
    const connecting = connect(agents, [...direct, RELAY]);
    await time.pass(49);
    expect(dials(agents)).to.equal(2);
    await time.pass(50);
    expect(dials(agents)).to.equal(direct.length);
    await time.pass(2); // thirds of the time are not exact
    expect(connectedBy((await connecting)[0])).to.equal('relayed over ssh');
    expect(connectedBy((await connect(agents, [...direct, RELAY]))[0])).to.equal('relayed over ssh');
    expect(dials(agents)).to.equal(direct.length + 2);
  });

  it('dials a forward through ssh, and notes the detour', async () => {
    const agents = fakeAgents(answers({ dial: 'accept' }), 60_000, FORWARDED);
    const [connection] = await connect(agents, [FORWARD]);
    const dial = agents.sent.at(-1)?.request;
    expect(dial).to.deep.include({ op: 'dial', addresses: [{ unix: '/tmp/x/forward' }] });
    expect(notesOf(connection)).to.deep.equal(['forwarded through ssh']);
  });

  it('tells an end to listen once, even if two paths lead to it', async () => {
    const agents = fakeAgents(answers({ host: '10.0.0.9' }));
    await connect(agents, [DIRECT, { ...DIRECT, host: '10.0.0.9', why: '--data' }]);
    expect(agents.sent.filter(({ request }) => request.op === 'listen')).to.have.length(1);
  });

  it('dials over RDMA from the address that the plan names', async () => {
    const agents = fakeAgents(answers({ dial: 'accept' }));
    const [connection] = await connect(agents, [RDMA, DIRECT]);
    expect(agents.sent.map(({ request }) => request)).to.deep.equal([
      { op: 'listen', link: 1, end: 'recv', transport: 'rdma', bind: '10.1.0.2' },
      {
        op: 'dial',
        link: 1,
        end: 'send',
        addresses: [{ host: '10.1.0.2', port: 42000, transport: 'rdma', from: '10.1.0.1' }],
      },
    ]);
    expect(connectedBy(connection)).to.equal('10.1.0.2:42000, rdma mlx5_0, RoCE v2, 100 Gb/s');
    expect(notesOf(connection)).to.deep.equal([]);
  });

  it('also listens over TCP when RDMA was refused', async () => {
    const agents = fakeAgents(answers({ host: '10.0.0.2' }));
    const [connection] = await connect(agents, [RDMA, { ...RDMA, host: '10.1.0.3', device: 'mlx5_1' }, DIRECT]);
    const listens = agents.sent.flatMap(({ request }) => (request.op === 'listen' ? [request.transport] : []));
    expect(listens).to.deep.equal(['rdma', 'tcp']);
    expect(notesOf(connection)).to.deep.equal([
      '10.1.0.2:42000: connection refused (rdma mlx5_0, RoCE v2, 100 Gb/s)',
      '10.1.0.3:42000: connection refused (rdma mlx5_1, RoCE v2, 100 Gb/s)',
      'connected by 10.0.0.2:42000, ssh address',
    ]);
  });

  it('drops every path of an end that cannot listen over RDMA, and tells it once', async () => {
    const agents = fakeAgents(answers({ dial: 'accept', rdma: 'refuse' }));
    const [connection] = await connect(agents, [RDMA, { ...RDMA, device: 'mlx5_1' }, DIRECT]);
    expect(agents.sent.map(({ request }) => request.op)).to.deep.equal(['listen', 'listen', 'dial']);
    expect(notesOf(connection)).to.deep.equal([
      'h2 cannot listen over rdma: no device (rdma mlx5_0, RoCE v2, 100 Gb/s; rdma mlx5_1, RoCE v2, 100 Gb/s)',
      'connected by 10.0.0.2:42000, ssh address',
    ]);
  });

  it('distinguishes two paths with the same address and port', async () => {
    const agents = fakeAgents(answers({ dial: 'silence' }), 100);
    const connecting = connect(agents, [{ ...RDMA, host: '10.0.0.2' }, DIRECT]);
    await time.pass(25);
    expect(dials(agents)).to.equal(2);
    agents.say('s1', connected(1, 'send', { peer: '10.0.0.2:42000' }));
    agents.say('s2', connected(1, 'recv'));
    const [connection] = await connecting;
    expect(connectedBy(connection)).to.equal('10.0.0.2:42000, ssh address');
    expect(notesOf(connection)[0]).to.equal('10.0.0.2:42000: no answer (rdma mlx5_0, RoCE v2, 100 Gb/s)');
  });

  it('tries many paths within the time', async () => {
    const ways = Array.from({ length: 8 }, (_, index) => ({ ...DIRECT, host: `10.0.0.${index + 2}` }));
    const silent = answers({ dial: 'silence' });
    const last: Answer = (request, session) =>
      request.op === 'dial' && hostOf(request) === '10.0.0.9' ? behave('accept', request) : silent(request, session);
    const connecting = connect(fakeAgents(last, 400), ways);
    await time.pass(399);
    const [connection] = await connecting;
    expect(connectedBy(connection)).to.equal('10.0.0.9:42000, ssh address');
  });

  it('waits for both ends', async () => {
    const agents = fakeAgents(answers({ dial: 'silence' }));
    let isDone = false;
    const connecting = connect(agents, [DIRECT]).then(() => {
      isDone = true;
    });
    await nextTurn();
    agents.say('s1', connected(1, 'send'));
    await nextTurn();
    expect(isDone).to.equal(false);
    agents.say('s2', connected(1, 'recv'));
    await connecting;
  });

  it('connects all hops at once', async () => {
    const agents = fakeAgents(answers({ dial: 'accept' }));
    const made: number[] = [];
    const hops = [hop(1, 's1', 's2'), hop(2, 's2', 's3')];
    const { signal } = new AbortController();
    const listening = beginListening(hops, agents, signal);
    await connectHops(listening, agents, ({ hop: { number } }) => made.push(number), signal);
    expect(agents.sent.slice(0, 2).map(({ request }) => request.op)).to.deep.equal(['listen', 'listen']);
    expect(made).to.have.members([1, 2]);
  });

  it('reports which paths were refused and what to do', async () => {
    const error = await failure(connect(fakeAgents(answers({ dial: 'refuse' })), [DIRECT, REVERSE]));
    expect(error).to.be.instanceOf(HopError).and.to.include({ code: 'cannot_connect', status: 125 });
    expect(error.message).to.equal(
      'cannot connect h1 to h2: 10.0.0.2:42000: connection refused (ssh address); ' +
        '10.0.0.1:41000: connection refused (receiver dials) ' +
        '(try another address with --data HOST=ADDR, or ports that the firewall allows with --port; ' +
        'to diagnose: rdpipe doctor h1 h2)',
    );
  });

  it('names an address that did not answer', async () => {
    const connecting = failure(connect(fakeAgents(answers({ dial: 'silence' }), 100), [DIRECT]));
    await time.pass(100);
    const error = await connecting;
    expect(error.message).to.contain('10.0.0.2:42000: no answer within 0.1 s');
  });

  it('reports when ssh cannot forward', async () => {
    const error = await failure(connect(fakeAgents(answers({ dial: 'accept' })), [FORWARD]));
    expect(error.message).to.contain('127.0.0.1: the session to h2 cannot forward: ');
    expect(error.message).not.to.contain('a relay needs');
  });

  it('names the session that cannot relay, and the setting that both servers need', async () => {
    const neither = await failure(connect(fakeAgents(answers({ dial: 'accept' })), [RELAY]));
    expect(neither.message).to.contain('10.0.0.2: the session to h2 cannot forward: ');
    expect(neither.message).to.contain('(a relay needs AllowTcpForwarding yes ');
    expect(neither.message).to.contain(' in sshd_config on h1 and h2; ');
    const oneWay = await failure(connect(fakeAgents(answers({ dial: 'accept' }), 60_000, FORWARDED), [RELAY]));
    expect(oneWay.message).to.contain('10.0.0.2: the session to h1 cannot forward: ');
  });

  it('names a refused key by its code', async () => {
    const agents = fakeAgents(answers({ dial: 'wrong key' }));
    expect(await failure(connect(agents, [DIRECT]))).to.include({ code: 'key_refused' });
  });

  it('ends with the reason of its signal', async () => {
    const controller = new AbortController();
    const connecting = connect(fakeAgents(answers({ dial: 'silence' })), [DIRECT], controller.signal);
    await nextTurn();
    const reason = new Error('interrupted');
    controller.abort(reason);
    expect(await failure(connecting)).to.equal(reason);
  });
});

type Behaviour = 'accept' | 'refuse' | 'silence' | 'wrong key';

/**
 * Every listener listens, RDMA as `rdma` specifies. Dials behave as given for both ends, for one end, or are accepted
 * only for one host.
 */
function answers(how: {
  dial?: Behaviour;
  send?: Behaviour;
  recv?: Behaviour;
  host?: string;
  rdma?: 'accept' | 'refuse';
}): Answer {
  return (request) => {
    if (request.op === 'listen') return [listened(request, how.rdma ?? 'accept')];
    if (request.op !== 'dial') return undefined;
    return behave(how[request.end] ?? how.dial ?? (hostOf(request) === how.host ? 'accept' : 'refuse'), request);
  };
}

type Listen = Extract<AgentRequest, { op: 'listen' }>;

function listened({ link, end, transport }: Listen, rdma: 'accept' | 'refuse'): AgentEvent {
  const base = { link, end, transport };
  if (transport === 'tcp' || rdma === 'accept') return { event: 'listening', ...base, port: PORTS[end] };
  return { event: 'listen_failed', ...base, code: 'cannot_connect', message: 'no device' };
}

type Dial = Extract<AgentRequest, { op: 'dial' }>;

function hostOf({ addresses: [address] }: Dial): string {
  return address !== undefined && 'host' in address ? address.host : '';
}

function behave(behaviour: Behaviour, { link, end, addresses: [address] }: Dial): AgentEvent[] {
  const target = address === undefined || 'unix' in address ? '/tmp/x/forward' : `${address.host}:${address.port}`;
  const other = end === 'send' ? 'recv' : 'send';
  const carrier = { transport: address !== undefined && 'transport' in address ? address.transport : 'tcp' };
  switch (behaviour) {
    case 'accept':
      return [
        connected(link, end, { ...carrier, peer: target }),
        connected(link, other, { ...carrier, peer: '10.0.0.7:5' }),
      ];
    case 'refuse':
      return [{ event: 'dial_failed', link, end, code: 'cannot_connect', message: `${target}: connection refused` }];
    case 'wrong key':
      return [{ event: 'dial_failed', link, end, code: 'key_refused', message: `${target}: another key` }];
    case 'silence':
      return [];
  }
}

async function connect(
  agents: FakeAgents,
  candidates: readonly Candidate[],
  signal = new AbortController().signal,
): Promise<[HopConnection]> {
  const made: HopConnection[] = [];
  const link: HopLink = { ...hop(1, 's1', 's2'), candidates };
  await connectHops(beginListening([link], agents, signal), agents, (connection) => made.push(connection), signal);
  const [connection] = made;
  if (connection === undefined) throw new Error('no hop was connected');
  return [connection];
}

async function failure(promise: Promise<unknown>): Promise<Error> {
  try {
    await promise;
  } catch (error) {
    return error as Error;
  }
  throw new Error('it should have failed');
}

function dials({ sent }: FakeAgents): number {
  return sent.filter(({ request }) => request.op === 'dial').length;
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
