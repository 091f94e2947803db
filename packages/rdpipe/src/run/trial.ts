/** Ordinary runs in open sessions, which `rdpipe doctor` and `rdpipe bench` use to measure. */
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
 * Runs a pipeline that does not use the user's standard input and output.
 * @throws the signal's reason; the errors of a run.
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

/**
 * Returns the result, or the RdpipeError with which `work` failed.
 * @throws any other error; the signal's reason.
 */
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
