import { randomUUID } from 'node:crypto';
import { TimeoutError } from '../model/errors.ts';
import type { Emit } from '../model/events.ts';
import type { Pipeline } from '../model/pipeline.ts';
import type { Plan } from '../model/plan.ts';
import type { Report } from '../model/report.ts';
import type { Settings } from '../model/settings.ts';
import { makePlan } from '../plan/plan.ts';
import { localAddresses } from './local-addresses.ts';
import { type Installation, type OpenHosts, openHosts, type UserStreams } from './open-hosts.ts';
import { makeReport } from './report.ts';
import { runPlan } from './run-plan.ts';
import { suspendOnTerminalStop } from './suspend.ts';
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

async function closeHosts({ sessions, agents }: OpenHosts): Promise<void> {
  await Promise.allSettled([...agents.values()].map((agent) => agent.close()));
  await sessions.close();
}
