/** Ordinary runs in open sessions, by which `rdpipe doctor` and `rdpipe bench` measure. */
import { RdpipeError } from '../model/errors.ts';
import type { Emit } from '../model/events.ts';
import type { Pipeline } from '../model/pipeline.ts';
import type { Report } from '../model/report.ts';
import type { Settings } from '../model/settings.ts';
import type { Sessions } from '../session/open.ts';
import { runInSessions } from './run.ts';

export interface TrialContext {
  readonly sessions: Sessions;
  readonly signal: AbortSignal;
}

/**
 * Runs a pipeline that has nothing of the user's streams.
 * @throws the signal's reason; what a run throws.
 */
export async function runTrial(
  pipeline: Pipeline,
  settings: Settings,
  { sessions, signal }: TrialContext,
  emit: Emit,
): Promise<Report> {
  const input = { pipeline, settings, streams: { stdin: 'null', stdout: 'drop' } as const };
  const report = await runInSessions(input, sessions, emit, signal);
  signal.throwIfAborted();
  return report;
}

/** Returns a failure between hosts; throws a defect, and the signal's reason. */
export async function attempt<Result>(
  { signal }: Pick<TrialContext, 'signal'>,
  work: () => Promise<Result>,
): Promise<Result | RdpipeError> {
  try {
    return await work();
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof RdpipeError) return error;
    throw error;
  }
}
