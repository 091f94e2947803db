/** Runs a pipeline: opens the hosts, plans, runs, reports. */
import { randomUUID } from 'node:crypto';
import { HopError, TimeoutError } from '../model/errors.ts';
import type { Emit } from '../model/events.ts';
import type { Pipeline } from '../model/pipeline.ts';
import type { Plan } from '../model/plan.ts';
import type { Report } from '../model/report.ts';
import type { Settings } from '../model/settings.ts';
import type { PlanInput } from '../plan/facts.ts';
import { type Prefix, withGathers } from '../plan/gather-stages.ts';
import { makePlan, planRepair } from '../plan/plan.ts';
import { relayHost } from '../plan/relay-stages.ts';
import { anySignal } from '../session/abort.ts';
import { type Deadline, startDeadline } from '../session/deadline.ts';
import { namesById, type Sessions } from '../session/open.ts';
import { type Absences, createAbsences, lossesBeforeStart } from './absences.ts';
import {
  type ConfigCheck,
  type Front,
  hostsOf,
  type Installation,
  type OpenHosts,
  openHosts,
  startAgents,
  type UserStreams,
} from './open-hosts.ts';
import { type CanJoin, relayByHost } from './relay-host.ts';
import { makeReport } from './report.ts';
import { type PlanRepair, runPlan } from './run-plan.ts';
import type { RunState } from './state.ts';
import { suspendOnTerminalStop } from './suspend.ts';

export interface RunInput {
  readonly pipeline: Pipeline;
  readonly settings: Settings;
  readonly streams: UserStreams;
  readonly checkConfig?: ConfigCheck;
  /** For the lines of several hosts; absent: `NAME: `. */
  readonly prefixOf?: Prefix | undefined;
  readonly front?: Front | undefined;
}

/**
 * Runs a pipeline from its first session to the end of its last process; with `dryRun` ends when the plan is complete.
 * `signal` ends the run: its reason is an RdpipeError.
 * @throws RdpipeError for a failure before there was a plan; later failures are in the report.
 */
export function runPipeline(
  input: RunInput & { readonly installation: Installation },
  emit: Emit,
  signal: AbortSignal,
): Promise<Report> {
  const { streams, settings, checkConfig, front } = input;
  const pipeline = withGathers(input.pipeline, streams, settings, input.prefixOf);
  const installation = {
    ...input.installation,
    checkConfig,
    localAgent: front?.agent,
    onlyOpen: front !== undefined,
  };
  const absences = createAbsences(pipeline, settings, emit);
  const open: OpenAll = (userEnd) => openHosts(absences, streams, settings, installation, emit, userEnd);
  return runOn(open, input, absences, emit, signal);
}

/** Runs a pipeline like runPipeline, in sessions that are already open to all of its hosts, and leaves them open. */
export function runInSessions(input: RunInput, sessions: Sessions, emit: Emit, signal: AbortSignal): Promise<Report> {
  const borrowed = { ...sessions, close: async () => {} };
  const hosts = input.pipeline.stages.map(({ host }) => host);
  const open: OpenAll = async (userEnd) => ({
    sessions: borrowed,
    agents: await startAgents(hosts, borrowed, input.settings, emit, userEnd),
  });
  return runOn(open, input, createAbsences(input.pipeline, input.settings, emit), emit, signal);
}

type OpenAll = (userEnd: AbortSignal) => Promise<OpenHosts>;

async function runOn(
  open: OpenAll,
  input: RunInput,
  absences: Absences,
  emit: Emit,
  signal: AbortSignal,
): Promise<Report> {
  const startedMs = performance.now();
  const { timeoutMs, lenient } = input.settings;
  const deadline = timeoutMs === undefined ? undefined : startDeadline(timeoutMs, tooLate(timeoutMs));
  const userEnd = deadline === undefined ? signal : anySignal(signal, deadline.expired);
  try {
    let hosts = await open(userEnd);
    try {
      for (;;) {
        const ran = await runOnce({ ...input, pipeline: absences.pipeline }, hosts, deadline, emit, userEnd);
        if (userEnd.aborted || !leaveOut(ran.state, absences, hosts.sessions)) {
          const report = makeReport(
            ran.plan,
            ran.state,
            lenient,
            (performance.now() - startedMs) / 1000,
            absences.lost,
          );
          emit({ kind: 'finished', report });
          return report;
        }
        hosts = await withNewAgents(hosts, input, absences, emit, userEnd);
      }
    } finally {
      await closeHosts(hosts);
    }
  } finally {
    deadline?.stop();
  }
}

interface Ran {
  readonly plan: Plan;
  readonly state: RunState;
}

async function runOnce(
  input: RunInput,
  hosts: OpenHosts,
  deadline: Deadline | undefined,
  emit: Emit,
  userEnd: AbortSignal,
): Promise<Ran> {
  const { settings } = input;
  const stopSuspending = suspendOnTerminalStop(hosts.agents.values(), deadline, emit, input.front?.stopProcess);
  try {
    const canJoin: CanJoin = (pair, trial) =>
      canRun({ pipeline: pair, settings: trial, streams: NONE }, hosts, userEnd);
    const pipeline = await relayByHost(input.pipeline, settings, hosts.sessions, canJoin, emit);
    const planInput = planInputFor({ ...input, pipeline }, hosts);
    const plan = makePlan(planInput);
    emit({ kind: 'planned', plan });
    const repair: PlanRepair = (sender, receiver) => planRepair(sender, receiver, planInput);
    return { plan, state: await runPlan(plan, settings, hosts, emit, userEnd, repair, input.front?.taken) };
  } finally {
    stopSuspending();
  }
}

/** True if the run may start again: hosts were lost before any command started, and the run can do without them. */
function leaveOut(state: RunState, absences: Absences, { idOf }: Sessions): boolean {
  const losses = new Map(lossesBeforeStart(state).map((error) => [error.host, error]));
  if (losses.size === 0) return false;
  const hosts = absences.pipeline.stages.map(({ host }) => host);
  const names = new Map([...namesById(hosts, idOf).values()].map((all) => [all[0].label, all]));
  return [...losses].every(([host, error]) => {
    const all = names.get(host);
    return all !== undefined && absences.excuse(all, error) === undefined;
  });
}

/** An agent serves one run, so new agents are started; the sessions stay open. */
async function withNewAgents(
  { sessions, agents }: OpenHosts,
  { streams, settings }: RunInput,
  { pipeline, excuse }: Absences,
  emit: Emit,
  userEnd: AbortSignal,
): Promise<OpenHosts> {
  await Promise.all([...agents.values()].map((agent) => agent.close()));
  const hosts = hostsOf(pipeline, streams, settings);
  return { sessions, agents: await startAgents(hosts, sessions, settings, emit, userEnd, excuse) };
}

const NONE: UserStreams = { stdin: 'null', stdout: 'drop' };

/** Returns true if all hops of a pipeline can be connected; with `dryRun`, if they can be planned. */
async function canRun(input: RunInput, hosts: OpenHosts, signal: AbortSignal): Promise<boolean> {
  try {
    if (input.settings.dryRun) makePlan(planInputFor(input, hosts));
    else {
      const report = await runInSessions(input, hosts.sessions, () => {}, signal);
      signal.throwIfAborted();
      return report.status === 0 || report.hops.every(({ local }) => local !== null);
    }
    return true;
  } catch (error) {
    if (error instanceof HopError) return false;
    throw error;
  }
}

function tooLate(timeoutMs: number): TimeoutError {
  return new TimeoutError(`the run took longer than ${timeoutMs / 1000} s (--timeout)`);
}

function planInputFor({ pipeline, settings, streams }: RunInput, { sessions, agents }: OpenHosts): PlanInput {
  const facts = [...agents].map(([id, { label, hello }]) => {
    const forwards = sessions.all.get(id)?.forward !== undefined;
    return [id, { id, label, hello, forwards }] as const;
  });
  const relay = relayHost(pipeline, settings.relay);
  return {
    run: randomUUID(),
    pipeline,
    settings,
    stageSessions: pipeline.stages.map(({ host }) => sessions.idOf(host)),
    sessions: new Map(facts),
    relaySession: relay && sessions.idOf(relay),
    ...streams,
  };
}

async function closeHosts({ sessions, agents }: OpenHosts): Promise<void> {
  await Promise.allSettled([...agents.values()].map((agent) => agent.close()));
  await sessions.close();
}
