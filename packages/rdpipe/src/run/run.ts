import { randomUUID } from 'node:crypto';
import { RdpipeError, SessionError, TimeoutError } from '../model/errors.ts';
import type { Emit } from '../model/events.ts';
import type { Pipeline } from '../model/pipeline.ts';
import type { Plan, SessionId } from '../model/plan.ts';
import type { Report } from '../model/report.ts';
import type { Settings } from '../model/settings.ts';
import { makePlan } from '../plan/plan.ts';
import { createInbox, type Inbox } from './inbox.ts';
import { listenToAgents } from './listen-to-agents.ts';
import { localAddresses } from './local-addresses.ts';
import { type Installation, type OpenHosts, openHosts, type UserStreams } from './open-hosts.ts';
import { createRecord, type RunRecord } from './record.ts';
import { makeReport } from './report.ts';
import { runSegment, type SegmentContext } from './run-segment.ts';
import { suspendOnTerminalStop } from './suspend.ts';
import { endAgents } from './teardown.ts';
import { startTimeLimit } from './time-limit.ts';

export interface RunInput {
  readonly pipeline: Pipeline;
  readonly settings: Settings;
  readonly streams: UserStreams;
  readonly installation: Installation;
}

/**
 * Runs a pipeline from its first session to the end of its last process; with `dryRun` it ends when the plan is made.
 * `signal` ends the run: its reason is an RdpipeError.
 * @throws RdpipeError for whatever went wrong before there was a plan; later failures are in the report.
 */
export async function runPipeline(input: RunInput, emit: Emit, signal: AbortSignal): Promise<Report> {
  const startedMs = performance.now();
  const late = new AbortController();
  const { timeoutMs } = input.settings;
  const limit = startTimeLimit(timeoutMs, () => late.abort(tooLate(timeoutMs ?? 0)));
  const userEnd = AbortSignal.any([signal, late.signal]);
  try {
    const hosts = await openHosts(input.pipeline, input.streams, input.settings, input.installation, emit, userEnd);
    const stopSuspending = suspendOnTerminalStop(hosts.agents.values(), limit, emit);
    try {
      const plan = planFor(input, hosts);
      emit({ kind: 'planned', plan });
      const state = await runPlan(plan, input.settings, hosts, emit, userEnd);
      const report = makeReport(plan, state, input.settings.lenient, (performance.now() - startedMs) / 1000);
      emit({ kind: 'finished', report });
      return report;
    } finally {
      stopSuspending();
      await closeHosts(hosts);
    }
  } finally {
    limit.stop();
  }
}

function tooLate(timeoutMs: number): TimeoutError {
  return new TimeoutError(`the run took longer than ${timeoutMs / 1000} s (--timeout)`);
}

function planFor({ pipeline, settings, streams }: RunInput, { sessions, agents }: OpenHosts): Plan {
  const facts = [...agents].map(([id, { label, hello }]) => [id, { id, label, hello }] as const);
  return makePlan({
    run: randomUUID(),
    pipeline,
    settings,
    stageSessions: pipeline.stages.map(({ host }) => sessions.idOf(host)),
    sessions: new Map(facts),
    ...streams,
    localAddresses: localAddresses(),
  });
}

/** What is known when everything of the plan has ended, on every host. */
async function runPlan(
  plan: Plan,
  settings: Settings,
  hosts: OpenHosts,
  emit: Emit,
  userEnd: AbortSignal,
): Promise<RunRecord['state']> {
  const agents = [...hosts.agents.values()];
  const failed = new AbortController();
  const record = createRecord(plan, settings.lenient, emit, (failure) => failed.abort(failure));
  const inbox = createInbox();
  let isFinishing = settings.dryRun;
  const heardAll = listenToAgents(hosts.agents, record, inbox, () => isFinishing);
  const onUserEnd = () => record.fail({ kind: 'error', error: asRdpipeError(userEnd.reason) });
  userEnd.addEventListener('abort', onUserEnd);
  try {
    userEnd.throwIfAborted();
    if (!settings.dryRun) await runSegments(plan, contextOf(plan, settings, hosts, record, inbox, emit), failed.signal);
    isFinishing = true;
    if (!(await endAgents(agents, { op: 'finish' }, heardAll))) record.fail(notEnded(plan));
  } catch (error) {
    isFinishing = true;
    if (!failed.signal.aborted) record.fail({ kind: 'error', error: asRdpipeError(error) });
    const reason = makeReport(plan, record.state, settings.lenient, 0).message ?? 'the run failed';
    emit({ kind: 'stopping', reason });
    await endAgents(agents, { op: 'abort', reason }, heardAll);
  } finally {
    userEnd.removeEventListener('abort', onUserEnd);
  }
  return record.state;
}

/** Segments follow one another. */
async function runSegments(plan: Plan, context: SegmentContext, signal: AbortSignal): Promise<void> {
  for (const segment of plan.segments) {
    await runSegment(segment, context, signal);
    signal.throwIfAborted();
  }
}

function contextOf(
  plan: Plan,
  settings: Settings,
  { sessions, agents }: OpenHosts,
  record: RunRecord,
  inbox: Inbox,
  emit: Emit,
): SegmentContext {
  const labels = new Map(plan.sessions.map(({ id, label }) => [id, label]));
  return {
    inbox,
    emit,
    timeoutMs: settings.connectTimeoutMs,
    settings: {
      run: plan.run,
      lenient: settings.lenient,
      lease_ms: settings.leaseMs,
      connect_timeout_ms: settings.connectTimeoutMs,
      stall_timeout_ms: settings.stallTimeoutMs,
    },
    label: (session: SessionId) => labels.get(session) ?? session,
    send: (session, request) => agents.get(session)?.send(request),
    forward: async (session, host, port, signal) => sessions.all.get(session)?.forward(host, port, signal),
    note: record.note,
  };
}

function notEnded({ sessions }: Plan): { kind: 'error'; error: SessionError } {
  const hosts = sessions.map(({ label }) => label).join(', ');
  const message = `not everything has ended on ${hosts}, though the pipeline is done`;
  return { kind: 'error', error: new SessionError('agent_protocol', hosts, message) };
}

function asRdpipeError(error: unknown): RdpipeError {
  if (error instanceof RdpipeError) return error;
  const message = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return new RdpipeError('internal', 125, 'rdpipe', `internal error: ${message}`, { cause: error });
}

async function closeHosts({ sessions, agents }: OpenHosts): Promise<void> {
  await Promise.allSettled([...agents.values()].map((agent) => agent.close()));
  await sessions.close();
}
