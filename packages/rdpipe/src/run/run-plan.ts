/** Runs a plan from its first segment to the end of every agent. */
import { RdpipeError, SessionError, shortageOf } from '../model/errors.ts';
import type { Emit } from '../model/events.ts';
import type { Plan, SessionId } from '../model/plan.ts';
import type { AgentRequest } from '../model/protocol.ts';
import type { Settings } from '../model/settings.ts';
import { type Agent, END_LIMIT_MS } from '../native/agent.ts';
import { settlesWithin } from '../session/abort.ts';
import type { Forward } from '../session/host-session.ts';
import { createEventBus } from './event-bus.ts';
import { firstCause } from './first-cause.ts';
import { missingOutcome } from './missing-outcomes.ts';
import type { OpenHosts } from './open-hosts.ts';
import type { PrepareSettings } from './prepare-request.ts';
import { readAgents } from './read-agents.ts';
import { createRecord, type RunRecord } from './record.ts';
import { runSegment, type SegmentContext } from './run-segment.ts';
import type { Failure, RunState } from './state.ts';

/**
 * Runs a plan's segments on its hosts, with `dryRun` none. Resolves with the state when all agents have ended.
 * Never rejects: an error is among the failures.
 */
export async function runPlan(
  plan: Plan,
  settings: Settings,
  hosts: OpenHosts,
  emit: Emit,
  userEnd: AbortSignal,
): Promise<RunState> {
  const agents = [...hosts.agents.values()];
  const failed = new AbortController();
  const record = createRecord(plan, settings.lenient, emit, (failure) => failed.abort(failure));
  const bus = createEventBus();
  const forwards: Forward[] = [];
  let isEnding = false;
  const allEnded = readAgents(hosts.agents, record, bus, () => isEnding);
  const onUserEnd = () => record.fail(failureOf(userEnd.reason));
  userEnd.addEventListener('abort', onUserEnd);
  try {
    userEnd.throwIfAborted();
    const { begin, note } = record;
    const context = { ...hostAccess(plan, hosts, forwards), ...timing(plan, settings), bus, emit, begin, note };
    if (!settings.dryRun) await runSegments(plan, context, record, failed.signal);
    isEnding = true;
    if (!(await endAgents(agents, { op: 'finish' }, allEnded))) record.fail(notEnded(plan));
  } catch (error) {
    isEnding = true;
    if (!failed.signal.aborted) record.fail(failureOf(error));
    const reason = firstCause(record.state, settings.lenient).message ?? 'the run failed';
    emit({ kind: 'stopping', reason });
    await endAgents(agents, { op: 'abort', reason }, allEnded);
  } finally {
    userEnd.removeEventListener('abort', onUserEnd);
    await Promise.allSettled(forwards.map((forward) => forward.close()));
  }
  return record.state;
}

/**
 * Sends every agent the request to end, and waits for their last messages; `allEnded` resolves when the last agent has
 * ended. False when the limit came first: an agent that does not answer ends by itself when its input closes.
 */
export function endAgents(
  agents: Iterable<Agent>,
  request: AgentRequest,
  allEnded: Promise<void>,
  limitMs = END_LIMIT_MS,
): Promise<boolean> {
  for (const agent of agents) agent.send(request);
  return settlesWithin(allEnded, limitMs);
}

/** Segments follow one another. @throws SessionError when a host ends one without reporting its outcome. */
async function runSegments(plan: Plan, context: SegmentContext, record: RunRecord, signal: AbortSignal): Promise<void> {
  for (const segment of plan.segments) {
    await runSegment(segment, context, signal);
    signal.throwIfAborted();
    const missing = missingOutcome(record.state, segment);
    if (missing !== undefined) throw missing;
  }
}

/** How a segment reaches its agents and hosts. Forwards are kept: an ssh connection of the user's outlives the run. */
function hostAccess(
  plan: Plan,
  { sessions, agents }: OpenHosts,
  forwards: Forward[],
): Pick<SegmentContext, 'label' | 'send' | 'forward'> {
  const labels = new Map(plan.sessions.map(({ id, label }) => [id, label]));
  return {
    label: (session: SessionId) => labels.get(session) ?? session,
    send: (session, request) => agents.get(session)?.send(request),
    async forward(session, host, port, signal) {
      const forward = await sessions.all.get(session)?.forward(host, port, signal);
      if (forward !== undefined) forwards.push(forward);
      return forward;
    },
  };
}

function timing(plan: Plan, settings: Settings): { readonly timeoutMs: number; readonly settings: PrepareSettings } {
  return {
    timeoutMs: settings.connectTimeoutMs,
    settings: {
      run: plan.run,
      lenient: settings.lenient,
      lease_ms: settings.leaseMs,
      connect_timeout_ms: settings.connectTimeoutMs,
      stall_timeout_ms: settings.stallTimeoutMs,
    },
  };
}

function notEnded({ sessions }: Plan): Failure {
  const hosts = sessions.map(({ label }) => label).join(', ');
  const message = `some processes of the run did not end on ${hosts}, although the pipeline is done`;
  return { kind: 'error', error: new SessionError('agent_protocol', hosts, message) };
}

function failureOf(error: unknown): Failure {
  const known = error instanceof RdpipeError ? error : shortageOf(error);
  if (known !== undefined) return { kind: 'error', error: known };
  const message = error instanceof Error ? (error.stack ?? error.message) : String(error);
  const internal = new RdpipeError('internal', 125, 'rdpipe', `internal error: ${message}`, { cause: error });
  return { kind: 'error', error: internal };
}
