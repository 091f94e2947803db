/** Runs a plan from its first segment to the end of every agent. */

import { type Agent, END_LIMIT_MS } from '../agent/agent.ts';
import { RdpipeError, SessionError, shortageOf } from '../model/errors.ts';
import type { Emit } from '../model/events.ts';
import type { Plan, Segment, SessionId } from '../model/plan.ts';
import type { AgentRequest } from '../model/protocol.ts';
import type { Settings } from '../model/settings.ts';
import { settlesWithin } from '../session/abort.ts';
import type { Forward, RemoteForward } from '../session/host-session.ts';
import { lossMessage } from './absences.ts';
import { type ChainRepair, createChainRepair, type RepairContext } from './chain-repair.ts';
import { createEventBus } from './event-bus.ts';
import { describeAlone } from './failure-messages.ts';
import { firstCause } from './first-cause.ts';
import { createKnownPaths } from './known-paths.ts';
import { createLosses } from './losses.ts';
import { missingOutcome } from './missing-outcomes.ts';
import type { Front, OpenHosts } from './open-hosts.ts';
import type { PrepareSettings } from './prepare-request.ts';
import { readAgents } from './read-agents.ts';
import { createRecord, type RunRecord } from './record.ts';
import { withLosses, withoutLosses } from './requirement.ts';
import { runSegment, type SegmentContext } from './run-segment.ts';
import { createSlowHosts, type SlowHost, type SlowHosts } from './slow-hosts.ts';
import type { Failure, RunState } from './state.ts';

/**
 * Runs the segments of a plan on its hosts; with `dryRun` runs none. Resolves with the state when all agents have
 * ended. Never rejects: an error is one of the failures in the state.
 */
export async function runPlan(
  plan: Plan,
  settings: Settings,
  hosts: OpenHosts,
  emit: Emit,
  userEnd: AbortSignal,
  repair: PlanRepair = noRepair,
  taken?: Front['taken'],
): Promise<RunState> {
  const agents = [...hosts.agents.values()];
  const failed = new AbortController();
  let mending: ChainRepair | undefined;
  let slow: SlowHosts | undefined;
  const losses = createLosses(plan, settings.failFast, (session, failure, state) => {
    dropAgent(hosts.agents.get(session), describeAlone(state, failure), emit);
    mending?.hostLost(session);
  });
  const record = createRecord(
    plan,
    settings.lenient,
    emit,
    (failure) => {
      losses.end();
      failed.abort(failure);
    },
    (failure, state) => losses.absorb(failure, state),
  );
  const bus = createEventBus();
  const forwards: (Forward | RemoteForward)[] = [];
  let isEnding = false;
  const running = new Set(agents);
  const allEnded = readAgents(
    hosts.agents,
    record,
    bus,
    () => isEnding,
    (agent) => running.delete(agent),
    taken,
  );
  const onUserEnd = () => record.fail(failureOf(userEnd.reason));
  userEnd.addEventListener('abort', onUserEnd);
  try {
    userEnd.throwIfAborted();
    const { note, fail } = record;
    const access = { ...hostAccess(plan, hosts, forwards), ...timing(plan, settings), bus, emit, losses, note, fail };
    const begin = (segment: Segment, signal: AbortSignal) => {
      record.begin(segment);
      losses.begin(segment);
      mending = createChainRepair(segment, { ...access, planRepair: repair }, signal);
      slow = createSlowHosts(segment, (host) => reportSlow(host, settings.dropSlow, access));
    };
    bus.subscribe((_, event) => {
      mending?.receive(event);
      slow?.receive(event, performance.now());
    });
    if (!settings.dryRun) await runSegments(plan, { ...access, begin }, record, failed.signal);
    isEnding = true;
    if (!(await endAgents(agents, { op: 'finish' }, allEnded))) record.fail(notEnded(plan));
  } catch (error) {
    isEnding = true;
    if (!failed.signal.aborted) record.fail(failureOf(error));
    const reason = firstCause(record.state, settings.lenient).message ?? 'the run failed';
    emit({ kind: 'stopping', reason });
    if (!(await endAgents(agents, { op: 'abort', reason }, allEnded)))
      for (const agent of running) record.fail(notAnswered(agent));
  } finally {
    userEnd.removeEventListener('abort', onUserEnd);
    await Promise.allSettled(forwards.map((forward) => forward.close()));
  }
  return withLosses(record.state, losses, plan, settings);
}

function reportSlow(
  { session, output }: SlowHost,
  drop: boolean,
  { label, emit, fail }: Pick<RepairContext, 'label' | 'emit' | 'fail'>,
): void {
  const host = label(session);
  const message = `${host} is slow: its ${output} is holding up the other hosts`;
  if (drop) fail({ kind: 'error', error: new SessionError('host_slow', host, message) });
  else emit({ kind: 'host_slow', host, message: `${message} (use --drop-slow to continue without it)` });
}

/**
 * Plans the hop that joins two hosts of a chain.
 * @throws HopError
 */
export type PlanRepair = RepairContext['planRepair'];

const noRepair: PlanRepair = () => {
  throw new Error('this run has no chains');
};

/** Asks a host that was lost to end its part of the run, and does not wait for it. */
function dropAgent(agent: Agent | undefined, reason: string, emit: Emit): void {
  if (agent === undefined) return;
  emit({ kind: 'host_lost', host: agent.label, message: lossMessage(agent.label, reason) });
  agent.send({ op: 'abort', reason: 'the run continues without this host' });
  void agent.close();
}

/**
 * Sends every agent the request to end and waits for their last messages; `allEnded` resolves when the last agent has
 * ended. Returns false if the limit expired first: an agent that does not answer ends on its own when its input closes.
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

/**
 * Runs the segments one after another.
 * @throws SessionError if a host ends a segment without reporting its outcome.
 */
async function runSegments(plan: Plan, context: SegmentContext, record: RunRecord, signal: AbortSignal): Promise<void> {
  for (const segment of plan.segments) {
    await runSegment(segment, context, signal);
    signal.throwIfAborted();
    const { losses } = context;
    const missing = missingOutcome(withoutLosses(record.state, losses), segment, losses.isLost);
    if (missing !== undefined) throw missing;
  }
}

/**
 * Returns how a segment reaches its agents and hosts. Forwards are kept to be closed after the run, because an ssh
 * connection of the user's outlives it.
 */
function hostAccess(
  plan: Plan,
  { sessions, agents }: OpenHosts,
  forwards: (Forward | RemoteForward)[],
): Pick<SegmentContext, 'paths' | 'label' | 'send' | 'forward' | 'forwardBack'> {
  const labels = new Map(plan.sessions.map(({ id, label }) => [id, label]));
  return {
    paths: createKnownPaths(),
    label: (session: SessionId) => labels.get(session) ?? session,
    send: (session, request) => agents.get(session)?.send(request),
    async forward(session, host, port, signal) {
      const forward = await sessions.all.get(session)?.forward?.(host, port, signal);
      if (forward !== undefined) forwards.push(forward);
      return forward;
    },
    async forwardBack(session, socketPath, signal) {
      const forward = await sessions.all.get(session)?.forwardBack?.(socketPath, signal);
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
    },
  };
}

function notEnded({ sessions }: Plan): Failure {
  const hosts = sessions.map(({ label }) => label).join(', ');
  const message = `some processes of the run did not end on ${hosts}, although the pipeline finished`;
  return { kind: 'error', error: new SessionError('agent_protocol', hosts, message) };
}

/**
 * The failure of a host that is dead or cut off. It is recorded even after other failures: the neighbours know only
 * that a hop broke.
 */
function notAnswered({ label }: Agent): Failure {
  const message = `lost ${label}: it did not end the run within ${END_LIMIT_MS / 1000} s`;
  return { kind: 'error', error: new SessionError('session_lost', label, message) };
}

function failureOf(error: unknown): Failure {
  const known = error instanceof RdpipeError ? error : shortageOf(error);
  if (known !== undefined) return { kind: 'error', error: known };
  const message = error instanceof Error ? (error.stack ?? error.message) : String(error);
  const internal = new RdpipeError('internal', 125, 'rdpipe', `internal error: ${message}`, { cause: error });
  return { kind: 'error', error: internal };
}
