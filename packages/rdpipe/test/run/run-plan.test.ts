import { expect } from 'chai';
import { makeSettings } from '../../src/config/settings.ts';
import { SignalError } from '../../src/model/errors.ts';
import type { RunEvent } from '../../src/model/events.ts';
import type { Plan } from '../../src/model/plan.ts';
import type { AgentEvent, AgentRequest } from '../../src/model/protocol.ts';
import type { Settings } from '../../src/model/settings.ts';
import { makeReport } from '../../src/run/report.ts';
import { runPlan } from '../../src/run/run-plan.ts';
import type { Answer } from './fake-agents.ts';
import { connected, exited, linkEnded, PLAN } from './sample.ts';
import { type ScriptedHosts, scriptedHosts } from './scripted-hosts.ts';

const SETTINGS = makeSettings({}, { defaults: {}, hosts: new Map() });
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
    const { hosts, report } = await run(willing, { ...SETTINGS, dryRun: true });
    expect(opsOf(hosts)).to.deep.equal(['finish', 'finish', 'finish']);
    expect(report.stages.map(({ state }) => state)).to.deep.equal(['not_started', 'not_started', 'not_started']);
  });

  it('aborts every host when one fails, and hears their last words', async () => {
    const { hosts, report, shown } = await run((request, session) => {
      if (request.op === 'go' && session === 's2') return [exited(2, { code: 3 })];
      if (request.op === 'go') return [];
      const stage = Number(session.slice(1));
      if (request.op === 'abort' && stage !== 2) return [exited(stage, { signal: 9, stopped: true })];
      return willing(request);
    });
    expect(opsOf(hosts).slice(-3)).to.deep.equal(['abort', 'abort', 'abort']);
    expect(shown).to.include('stopping');
    expect(report).to.include({
      status: 3,
      cause: 'stage',
      message: 'stage 2 (h2: filter --x) exited 3; stages 1 and 3 were stopped',
    });
  });

  it('goes on with --lenient', async () => {
    const answer: Answer = (request, session) =>
      request.op === 'go' && session === 's2' ? [exited(2, { code: 3 }), ...willing(request)] : willing(request);
    const { hosts, report } = await run(answer, { ...SETTINGS, lenient: true });
    expect(opsOf(hosts).slice(-3)).to.deep.equal(['finish', 'finish', 'finish']);
    expect(report).to.include({ status: 3, cause: 'stage' });
  });

  it('aborts when the user ends it', async () => {
    const user = new AbortController();
    const answer: Answer = (request, session) => {
      if (request.op !== 'go') return willing(request);
      if (session === 's3') setImmediate(() => user.abort(new SignalError('SIGTERM')));
      return [];
    };
    const { hosts, report } = await run(answer, SETTINGS, user.signal);
    expect(opsOf(hosts).slice(-3)).to.deep.equal(['abort', 'abort', 'abort']);
    expect(report).to.include({ status: 143, cause: 'signal', message: 'ended by SIGTERM' });
  });

  it('starts nothing when the user ended it before', async () => {
    const { hosts, report } = await run(willing, SETTINGS, AbortSignal.abort(new SignalError('SIGINT')));
    expect(opsOf(hosts)).to.deep.equal(['abort', 'abort', 'abort']);
    expect(report).to.include({ status: 130, cause: 'signal' });
  });

  it('runs segments one after another', async () => {
    const [first] = PLAN.segments;
    if (first === undefined) throw new Error('the sample has a segment');
    const second = { number: 2, stages: [], links: [{ number: 3, kind: 'null', session: 's3' }] } as const;
    const { hosts } = await run(willing, SETTINGS, undefined, { ...PLAN, segments: [first, second] });
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
    const { report } = await run(willing, SETTINGS, undefined, throughSsh(PLAN), { forward: async () => forward });
    expect(report.status).to.equal(0);
    expect(closed).to.equal(2);
  });
});

/** Says to every request what it should. */
function willing(request: AgentRequest): AgentEvent[] {
  switch (request.op) {
    case 'prepare':
      return [{ event: 'prepared', segment: request.segment }];
    case 'listen':
      return [{ event: 'listening', link: request.link, end: request.end, transport: request.transport, port: 40000 }];
    case 'dial':
      return [connected(request.link, 'send'), connected(request.link, 'recv')];
    case 'go':
      return [linkEnded(1, 'recv'), { event: 'segment_ended', segment: request.segment }];
    default:
      return [];
  }
}

function throughSsh(plan: Plan): Plan {
  const tcp = { transport: 'tcp', from: null, device: null } as const;
  const why = 'forwarded through ssh';
  const candidates = [{ ...tcp, dialler: 'sender', way: 'forward', host: '127.0.0.1', why }] as const;
  const segments = plan.segments.map((segment) => ({
    ...segment,
    links: segment.links.map((link) => (link.kind === 'hop' ? { ...link, candidates } : link)),
  }));
  return { ...plan, segments };
}

async function run(
  answer: Answer,
  settings: Settings = SETTINGS,
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
