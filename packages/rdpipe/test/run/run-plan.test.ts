import { expect } from 'chai';
import type { Agent } from '../../src/agent/agent.ts';
import { SignalError } from '../../src/model/errors.ts';
import type { RunEvent } from '../../src/model/events.ts';
import type { Plan, SessionId } from '../../src/model/plan.ts';
import type { AgentEvent, AgentHello, AgentRequest } from '../../src/model/protocol.ts';
import type { Settings } from '../../src/model/settings.ts';
import { makeReport } from '../../src/run/report.ts';
import { endAgents, runPlan } from '../../src/run/run-plan.ts';
import { DEFAULTS } from '../default-settings.ts';
import type { Answer } from './fake-agents.ts';
import { connected, exited, linkEnded, PLAN } from './sample.ts';
import { type ScriptedHosts, scriptedHosts } from './scripted-hosts.ts';

const IDS = ['s1', 's2', 's3'];

describe('runPlan', () => {
  it('prepares, connects, starts and finishes', async () => {
    const { hosts, report, shown } = await run(willing);
    expect(report).to.include({ status: 0, cause: null });
    expect(opsOf(hosts)).to.deep.equal([
      ...['prepare', 'prepare', 'prepare'],
      ...['listen', 'listen', 'dial', 'dial'],
      ...['go', 'go', 'go'],
      ...['finish', 'finish', 'finish'],
    ]);
    expect(shown).to.not.include('stopping');
  });

  it('starts nothing with --dry-run', async () => {
    const { hosts, report } = await run(willing, { ...DEFAULTS, dryRun: true });
    expect(opsOf(hosts)).to.deep.equal(['finish', 'finish', 'finish']);
    expect(report.stages.map(({ state }) => state)).to.deep.equal(['not_started', 'not_started', 'not_started']);
  });

  it('aborts every host when one fails, and reads their last messages', async () => {
    const { hosts, report, shown } = await run((request, session) => {
      if (request.op === 'go' && session === 's2') return runs(2, { code: 3 });
      const stage = Number(session.slice(1));
      if (request.op === 'go') return [{ event: 'started', stage, pid: 4711 }];
      if (request.op === 'abort' && stage !== 2) return [exited(stage, { signal: 9, stopped: true })];
      return willing(request, session);
    });
    expect(opsOf(hosts).slice(-3)).to.deep.equal(['abort', 'abort', 'abort']);
    expect(shown).to.include('stopping');
    expect(report).to.include({
      status: 3,
      cause: 'stage',
      causeStage: 2,
      message: 'stage 2 (h2: filter --x) exited with status 3; stages 1 and 3 were stopped',
    });
  });

  it('continues with --lenient', async () => {
    const answer: Answer = (request, session) =>
      request.op === 'go' && session === 's2' ? [...runs(2, { code: 3 }), ...ends(2)] : willing(request, session);
    const { hosts, report } = await run(answer, { ...DEFAULTS, lenient: true });
    expect(opsOf(hosts).slice(-3)).to.deep.equal(['finish', 'finish', 'finish']);
    expect(report).to.include({ status: 3, cause: 'stage' });
  });

  it('aborts when the user ends it', async () => {
    const user = new AbortController();
    const answer: Answer = (request, session) => {
      if (request.op !== 'go') return willing(request, session);
      if (session === 's3') setImmediate(() => user.abort(new SignalError('SIGTERM')));
      return [];
    };
    const { hosts, report } = await run(answer, DEFAULTS, user.signal);
    expect(opsOf(hosts).slice(-3)).to.deep.equal(['abort', 'abort', 'abort']);
    expect(report).to.include({ status: 143, cause: 'signal', message: 'ended by SIGTERM' });
  });

  for (const [what, answer, words] of [
    ['how a stage ended', ends, /^cannot trust the agent on h2: it did not report how stage 2 ended$/],
    [
      'how its end of a hop ended',
      (): AgentEvent[] => [...runs(2), linkEnded(1, 'recv'), { event: 'segment_ended', segment: 1 }],
      /^cannot trust the agent on h2: it did not report how its data to h3 ended/,
    ],
    [
      'the reason for stopping a stage',
      (): AgentEvent[] => [...runs(2, { stopped: true }), ...ends(2)],
      /^cannot trust the agent on h2: it stopped stage 2 without reporting a reason$/,
    ],
    [
      'the report of the other end',
      (): AgentEvent[] => [...runs(2), linkEnded(1, 'recv', { bytes: 1 }), linkEnded(2, 'send'), ...ends(2).slice(-1)],
      /^cannot trust the agent on h2: it and h1 reported different byte counts$/,
    ],
  ] as const) {
    it(`does not trust a host that reports its end without ${what}`, async () => {
      const { hosts, report } = await run((request, session) =>
        request.op === 'go' && session === 's2' ? answer(2) : willing(request, session),
      );
      expect(report).to.include({ status: 125, cause: 'rdpipe' });
      expect(report.message).to.match(words);
      expect(opsOf(hosts).slice(-3)).to.deep.equal(['abort', 'abort', 'abort']);
    });
  }

  it('starts nothing when the user ended it before', async () => {
    const { hosts, report } = await run(willing, DEFAULTS, AbortSignal.abort(new SignalError('SIGINT')));
    expect(opsOf(hosts)).to.deep.equal(['abort', 'abort', 'abort']);
    expect(report).to.include({ status: 130, cause: 'signal' });
  });

  it('runs segments one after another', async () => {
    const [first] = PLAN.segments;
    if (first === undefined) throw new Error('the sample has a segment');
    const second = { number: 2, stages: [], links: [{ number: 3, kind: 'null', session: 's3' }] } as const;
    const { hosts } = await run(willing, DEFAULTS, undefined, { ...PLAN, segments: [first, second] });
    expect(hosts.sent.slice(-5)).to.deep.equal(['s3 prepare', 's3 go', 's1 finish', 's2 finish', 's3 finish']);
  });

  it('closes the forwards that it opened', async () => {
    let closed = 0;
    const forward = {
      socketPath: '/tmp/x/forward',
      async close() {
        closed += 1;
      },
    };
    const { report } = await run(willing, DEFAULTS, undefined, throughSsh(PLAN), { forward: async () => forward });
    expect(report.status).to.equal(0);
    expect(closed).to.equal(2);
  });
});

/** Answers every request correctly. Reports both ends of a link when its receiver is asked to listen. */
function willing(request: AgentRequest, session: SessionId): AgentEvent[] {
  const stage = Number(session.slice(1));
  switch (request.op) {
    case 'prepare':
      return [{ event: 'prepared', segment: request.segment }];
    case 'listen':
      return [
        { event: 'listening', link: request.link, end: request.end, transport: request.transport, port: 40000 },
        connected(request.link, request.end),
      ];
    case 'dial':
      return [connected(request.link, request.end)];
    case 'go':
      return request.segment === 1 ? [...runs(stage), ...ends(stage)] : [{ event: 'segment_ended', segment: 2 }];
    default:
      return [];
  }
}

function runs(stage: number, how: Parameters<typeof exited>[1] = {}): AgentEvent[] {
  return [{ event: 'started', stage, pid: 4711 }, exited(stage, how)];
}

/** Returns the end events of a stage's links and of its segment; there are three stages in a row. */
function ends(stage: number): AgentEvent[] {
  const input = stage === 1 ? [] : [linkEnded(stage - 1, 'recv')];
  const output = stage === 3 ? [] : [linkEnded(stage, 'send')];
  return [...input, ...output, { event: 'segment_ended', segment: 1 }];
}

function throughSsh(plan: Plan): Plan {
  const tcp = { transport: 'tcp', from: null, device: null } as const;
  const why = 'forwarded through ssh';
  const candidates = [{ ...tcp, dialer: 'sender', way: 'forward', host: '127.0.0.1', why }] as const;
  const segments = plan.segments.map((segment) => ({
    ...segment,
    links: segment.links.map((link) => (link.kind === 'hop' ? { ...link, candidates } : link)),
  }));
  return { ...plan, segments };
}

async function run(
  answer: Answer,
  settings: Settings = DEFAULTS,
  userEnd = new AbortController().signal,
  plan = PLAN,
  session: Parameters<typeof scriptedHosts>[2] = {},
) {
  const hosts = scriptedHosts(IDS, answer, session);
  const shown: RunEvent['kind'][] = [];
  const state = await runPlan(plan, settings, hosts, ({ kind }) => shown.push(kind), userEnd);
  return { hosts, shown, report: makeReport(plan, state, settings.lenient, 0) };
}

function opsOf({ sent }: ScriptedHosts): string[] {
  return sent.map((line) => line.split(' ')[1] ?? '');
}

describe('endAgents', () => {
  const abort = { op: 'abort', reason: 'stage 1 failed' } as const;

  it('asks every agent to end, and waits for the last messages', async () => {
    const sent: AgentRequest[] = [];
    const agents = [recordingAgent(sent), recordingAgent(sent)];
    let end = () => {};
    const allEnded = new Promise<void>((resolve) => {
      end = resolve;
    });
    const ending = endAgents(agents, abort, allEnded);
    expect(sent).to.deep.equal([abort, abort]);
    end();
    expect(await ending).to.equal(true);
  });

  it('gives up after its limit', async () => {
    expect(await endAgents([recordingAgent([])], abort, new Promise(() => {}), 20)).to.equal(false);
  });
});

function recordingAgent(sent: AgentRequest[]): Agent {
  return {
    label: 'h1',
    hello: {} as AgentHello,
    startMs: 0,
    send: (request) => sent.push(request),
    async *events() {},
    close: async () => {},
  };
}
