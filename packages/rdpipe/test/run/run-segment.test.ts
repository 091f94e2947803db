import { setImmediate } from 'node:timers/promises';
import { expect } from 'chai';
import type { RunEvent } from '../../src/model/events.ts';
import type { AgentEvent, AgentRequest } from '../../src/model/protocol.ts';
import { createLosses } from '../../src/run/losses.ts';
import { runSegment, type SegmentContext } from '../../src/run/run-segment.ts';
import { type Answer, fakeAgents } from './fake-agents.ts';
import { connected, PLAN } from './sample.ts';

const SETTINGS = { run: 'r1', lenient: false, lease_ms: 90_000, connect_timeout_ms: 10_000, stall_timeout_ms: 60_000 };

describe('runSegment', () => {
  it('prepares every host, connects every hop, and only then starts the commands', async () => {
    const { sent, shown } = await run(willing);
    const ops = sent.map(({ request }) => request.op);
    expect(ops.slice(0, 3)).to.deep.equal(['prepare', 'prepare', 'prepare']);
    expect(ops.slice(3, -3).sort()).to.deep.equal(['dial', 'dial', 'listen', 'listen']);
    expect(ops.slice(-3)).to.deep.equal(['go', 'go', 'go']);
    expect(shown.map(({ kind }) => kind)).to.deep.equal(['hop_connected', 'hop_connected', 'segment_started']);
  });

  it('lets ends listen while hosts prepare, and dials when all have prepared', async () => {
    const late = new Map<string, AgentEvent>();
    const holding: Answer = (request, session) => {
      if (request.op !== 'prepare') return willing(request, session);
      late.set(session, { event: 'prepared', segment: request.segment });
      return [];
    };
    const agents = fakeAgents(holding);
    const running = runSegment(segment(), context(agents, []), new AbortController().signal);
    const ops = () => agents.sent.map(({ request }) => request.op).sort();
    await turns();
    expect(ops()).to.deep.equal(['listen', 'listen', 'prepare', 'prepare', 'prepare']);
    for (const [session, event] of late) agents.say(session, event);
    await turns();
    expect(ops().filter((op) => op === 'dial')).to.have.length(2);
    await running;
  });

  it('gives both ends of a hop the same key, and every hop a different one', async () => {
    const { sent } = await run(willing);
    const links = sent.flatMap(({ request }) => (request.op === 'prepare' ? request.links : []));
    const keysOf = (number: number) =>
      links.flatMap((link) => (link.link === number && 'open' in link ? [link.open.key] : []));
    for (const number of [1, 2]) {
      expect(keysOf(number)).to.have.length(2);
      expect(new Set(keysOf(number)).size).to.equal(1);
      expect(keysOf(number)[0]).to.match(/^[0-9a-f]{64}$/);
    }
    expect(keysOf(1)[0]).to.not.equal(keysOf(2)[0]);
  });

  it('starts nothing when one host cannot prepare', async () => {
    const controller = new AbortController();
    const reason = new Error('cannot open in');
    const refusing: Answer = (request, session) => {
      if (request.op === 'prepare' && session === 's2') controller.abort(reason);
      return willing(request, session);
    };
    const agents = fakeAgents(refusing);
    let failure: unknown;
    await runSegment(segment(), context(agents, []), controller.signal).catch((error) => {
      failure = error;
    });
    expect(failure).to.equal(reason);
    expect(agents.sent.map(({ request }) => request.op)).to.not.include('go');
  });
});

/** Resolves when all events so far have been processed. */
async function turns(): Promise<void> {
  for (let turn = 0; turn < 5; turn += 1) await setImmediate();
}

/** Answers every request correctly. */
const willing: Answer = (request: AgentRequest): AgentEvent[] => {
  switch (request.op) {
    case 'prepare':
      return [{ event: 'prepared', segment: request.segment }];
    case 'listen':
      return [{ event: 'listening', link: request.link, end: request.end, transport: request.transport, port: 40000 }];
    case 'dial':
      return [connected(request.link, 'send'), connected(request.link, 'recv')];
    case 'go':
      return [{ event: 'segment_ended', segment: request.segment }];
    default:
      return [];
  }
};

function segment() {
  const [first] = PLAN.segments;
  if (first === undefined) throw new Error('the sample has a segment');
  return first;
}

function context(agents: ReturnType<typeof fakeAgents>, shown: RunEvent[]): SegmentContext {
  return {
    ...agents,
    settings: SETTINGS,
    emit: (event) => shown.push(event),
    begin: ({ number }) => shown.push({ kind: 'segment_started', segment: number }),
    note: () => {},
    losses: createLosses(PLAN, false, () => {}),
  };
}

async function run(answer: Answer) {
  const agents = fakeAgents(answer);
  const shown: RunEvent[] = [];
  await runSegment(segment(), context(agents, shown), new AbortController().signal);
  return { sent: agents.sent, shown };
}
