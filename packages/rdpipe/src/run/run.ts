/** Runs a pipeline: opens the hosts, plans, runs, reports. */
import { randomUUID } from 'node:crypto';
import { TimeoutError } from '../model/errors.ts';
import type { Emit } from '../model/events.ts';
import type { Pipeline } from '../model/pipeline.ts';
import type { Plan } from '../model/plan.ts';
import type { Report } from '../model/report.ts';
import type { Settings } from '../model/settings.ts';
import { makePlan } from '../plan/plan.ts';
import { startDeadline } from '../session/deadline.ts';
import type { Sessions } from '../session/open.ts';
import { type Installation, type OpenHosts, openHosts, startAgents, type UserStreams } from './open-hosts.ts';
import { makeReport } from './report.ts';
import { runPlan } from './run-plan.ts';
import { suspendOnTerminalStop } from './suspend.ts';

export interface RunInput {
  readonly pipeline: Pipeline;
  readonly settings: Settings;
  readonly streams: UserStreams;
}

/**
 * Runs a pipeline from its first session to the end of its last process; with `dryRun` it ends when the plan is made.
 * `signal` ends the run: its reason is an RdpipeError.
 * @throws RdpipeError for whatever went wrong before there was a plan; later failures are in the report.
 */
export function runPipeline(
  input: RunInput & { readonly installation: Installation },
  emit: Emit,
  signal: AbortSignal,
): Promise<Report> {
  const { pipeline, streams, settings, installation } = input;
  return runOn((userEnd) => openHosts(pipeline, streams, settings, installation, emit, userEnd), input, emit, signal);
}

/** The same in sessions that are open already, every host's of the pipeline, and stay so. */
export function runInSessions(input: RunInput, sessions: Sessions, emit: Emit, signal: AbortSignal): Promise<Report> {
  const borrowed = { ...sessions, close: async () => {} };
  const hosts = input.pipeline.stages.map(({ host }) => host);
  const open: OpenAll = async (userEnd) => ({
    sessions: borrowed,
    agents: await startAgents(hosts, borrowed, input.settings, emit, userEnd),
  });
  return runOn(open, input, emit, signal);
}

type OpenAll = (userEnd: AbortSignal) => Promise<OpenHosts>;

async function runOn(open: OpenAll, input: RunInput, emit: Emit, signal: AbortSignal): Promise<Report> {
  const startedMs = performance.now();
  const { timeoutMs } = input.settings;
  const deadline = timeoutMs === undefined ? undefined : startDeadline(timeoutMs, tooLate(timeoutMs));
  const userEnd = deadline === undefined ? signal : AbortSignal.any([signal, deadline.expired]);
  try {
    const hosts = await open(userEnd);
    const stopSuspending = suspendOnTerminalStop(hosts.agents.values(), deadline, emit);
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
    deadline?.stop();
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
  });
}

async function closeHosts({ sessions, agents }: OpenHosts): Promise<void> {
  await Promise.allSettled([...agents.values()].map((agent) => agent.close()));
  await sessions.close();
}
