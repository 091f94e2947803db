import { expect } from 'chai';
import { HopError } from '../../src/model/errors.ts';
import type { Candidate, HopLink } from '../../src/model/plan.ts';
import type { AgentEvent, AgentRequest, HopEnd } from '../../src/model/protocol.ts';
import { connectHops, type HopConnection } from '../../src/run/connect-hops.ts';
import { notesOf, wayOf } from '../../src/run/hop-words.ts';
import { type Answer, type FakeAgents, fakeAgents } from './fake-agents.ts';
import { connected, hop } from './sample.ts';

const DIRECT: Candidate = { dialler: 'sender', way: 'address', host: '10.0.0.2', why: 'address of ssh' };
const REVERSE: Candidate = { dialler: 'receiver', way: 'address', host: '10.0.0.1', why: 'receiver dials' };
const FORWARD: Candidate = { dialler: 'sender', way: 'forward', host: '127.0.0.1', why: 'forwarded through ssh' };
const PORTS: Readonly<Record<HopEnd, number>> = { send: 41000, recv: 42000 };
const FORWARDED = { socketPath: '/tmp/x/forward', close: async () => {} };

describe('connectHops', () => {
  it('has the receiver listen and the sender dial its port', async () => {
    const agents = fakeAgents(answers({ dial: 'accept' }));
    const [connection] = await connect(agents, [DIRECT, REVERSE]);
    await nextTurn();
    expect(agents.sent).to.deep.equal([
      { session: 's2', request: { op: 'listen', link: 1, end: 'recv' } },
      {
        session: 's1',
        request: { op: 'dial', link: 1, end: 'send', addresses: [{ host: '10.0.0.2', port: 42000 }] },
      },
    ]);
    expect(wayOf(connection)).to.equal('10.0.0.2:42000, address of ssh');
    expect(notesOf(connection)).to.deep.equal([]);
  });

  it('turns round when the first way is refused, and notes it', async () => {
    const agents = fakeAgents(answers({ send: 'refuse', recv: 'accept' }));
    const [connection] = await connect(agents, [DIRECT, REVERSE]);
    expect(agents.sent.map(({ request }) => request.op)).to.deep.equal(['listen', 'dial', 'listen', 'dial']);
    expect(notesOf(connection)).to.deep.equal([
      '10.0.0.2:42000: connection refused (address of ssh)',
      'connected by 10.0.0.1:41000, receiver dials',
    ]);
  });

  it('adds the next way when the first one has not answered for a quarter of the time', async () => {
    const agents = fakeAgents(answers({ send: 'silence', recv: 'accept' }), 200);
    const [connection] = await connect(agents, [DIRECT, REVERSE]);
    expect(notesOf(connection)).to.deep.equal([
      '10.0.0.2:42000: no answer (address of ssh)',
      'connected by 10.0.0.1:41000, receiver dials',
    ]);
  });

  it('dials a forward through ssh, and notes the detour', async () => {
    const agents = fakeAgents(answers({ dial: 'accept' }), 60_000, FORWARDED);
    const [connection] = await connect(agents, [FORWARD]);
    const dial = agents.sent.at(-1)?.request;
    expect(dial).to.deep.include({ op: 'dial', addresses: [{ unix: '/tmp/x/forward' }] });
    expect(notesOf(connection)).to.deep.equal(['forwarded through ssh']);
  });

  it('tells an end to listen once, though two ways lead to it', async () => {
    const agents = fakeAgents(answers({ host: '10.0.0.9' }));
    await connect(agents, [DIRECT, { ...DIRECT, host: '10.0.0.9', why: '--data' }]);
    expect(agents.sent.filter(({ request }) => request.op === 'listen')).to.have.length(1);
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
    await connectHops(hops, agents, ({ hop: { number } }) => made.push(number), new AbortController().signal);
    expect(agents.sent.slice(0, 2).map(({ request }) => request.op)).to.deep.equal(['listen', 'listen']);
    expect(made).to.have.members([1, 2]);
  });

  it('says which ways were refused and what to do', async () => {
    const error = await failure(connect(fakeAgents(answers({ dial: 'refuse' })), [DIRECT, REVERSE]));
    expect(error).to.be.instanceOf(HopError).and.to.include({ code: 'cannot_connect', status: 125 });
    expect(error.message).to.equal(
      'cannot connect h1 to h2: 10.0.0.2:42000: connection refused (address of ssh); ' +
        '10.0.0.1:41000: connection refused (receiver dials) ' +
        '(--data HOST=ADDR names another address, --port ports that a firewall lets through)',
    );
  });

  it('says when nobody answered', async () => {
    const error = await failure(connect(fakeAgents(answers({ dial: 'silence' }), 100), [DIRECT]));
    expect(error.message).to.contain('10.0.0.2:42000: no answer within 0.1 s');
  });

  it('says when ssh cannot forward', async () => {
    const error = await failure(connect(fakeAgents(answers({ dial: 'accept' })), [FORWARD]));
    expect(error.message).to.contain('127.0.0.1: this session cannot forward (forwarded through ssh)');
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

/** Listeners listen; a dial does as told: whoever dials, one end, or accepted for one host only. */
function answers(how: { dial?: Behaviour; send?: Behaviour; recv?: Behaviour; host?: string }): Answer {
  return (request) => {
    if (request.op === 'listen')
      return [{ event: 'listening', link: request.link, end: request.end, port: PORTS[request.end] }];
    if (request.op !== 'dial') return undefined;
    return behave(how[request.end] ?? how.dial ?? (hostOf(request) === how.host ? 'accept' : 'refuse'), request);
  };
}

type Dial = Extract<AgentRequest, { op: 'dial' }>;

function hostOf({ addresses: [address] }: Dial): string {
  return address !== undefined && 'host' in address ? address.host : '';
}

function behave(behaviour: Behaviour, { link, end, addresses: [address] }: Dial): AgentEvent[] {
  const target = address === undefined || 'unix' in address ? '/tmp/x/forward' : `${address.host}:${address.port}`;
  const other = end === 'send' ? 'recv' : 'send';
  switch (behaviour) {
    case 'accept':
      return [connected(link, end, target), connected(link, other, '10.0.0.7:50000')];
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
  await connectHops([link], agents, (connection) => made.push(connection), signal);
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

function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
