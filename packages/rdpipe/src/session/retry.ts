import { setTimeout as delay } from 'node:timers/promises';

const MOST_ATTEMPTS = 6;
const FIRST_PAUSE_MS = 100;

/** Does a job again while it fails in a way that passes by itself; pauses double, with jitter so that hosts do not march in step. */
export async function retry<T>(
  job: () => Promise<T>,
  passes: (error: unknown) => boolean,
  signal: AbortSignal,
  firstPauseMs = FIRST_PAUSE_MS,
): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await job();
    } catch (error) {
      if (attempt === MOST_ATTEMPTS || !passes(error) || signal.aborted) throw error;
    }
    const pauseMs = firstPauseMs * 2 ** (attempt - 1);
    await delay(pauseMs * (0.5 + Math.random()), undefined, { signal });
  }
}
