/** Retries connections that a busy server drops before the login. */
import { setTimeout as delay } from 'node:timers/promises';
import type { ConcurrencyLimit } from './concurrency-limit.ts';
import type { SessionSettings } from './settings.ts';

/** The connection ended before its login began. `cause` is the error for the user if every retry fails. */
export class DroppedConnectionError extends Error {
  constructor(cause: unknown) {
    super('dropped before the login', { cause });
  }
}

/**
 * Connects when `limit` permits it. Retries only after a DroppedConnectionError.
 * @throws the cause of the last DroppedConnectionError; other errors of `connect`; the signal's reason.
 */
export async function connectWithRetries<T>(
  label: string,
  connect: () => Promise<T>,
  limit: ConcurrencyLimit,
  { signal, emit }: Pick<SessionSettings, 'signal' | 'emit'>,
): Promise<T> {
  const passes = (error: unknown) => {
    if (!(error instanceof DroppedConnectionError)) return false;
    emit({ kind: 'log', message: `${label}: the server dropped the connection before login` });
    return true;
  };
  try {
    return await limit(signal, () => retry(connect, passes, signal));
  } catch (error) {
    throw error instanceof DroppedConnectionError ? error.cause : error;
  }
}

const ATTEMPTS_MAX = 6;
const FIRST_PAUSE_MS = 100;

/**
 * Repeats a job while `passes` returns true for its error. Pauses double, with jitter so that hosts do not retry in
 * step.
 * @throws the last error; the signal's reason.
 */
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
      if (attempt === ATTEMPTS_MAX || !passes(error) || signal.aborted) throw error;
    }
    const pauseMs = firstPauseMs * 2 ** (attempt - 1);
    await delay(pauseMs * (0.5 + Math.random()), undefined, { signal });
  }
}
