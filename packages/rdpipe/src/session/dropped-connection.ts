/** Servers that are short of places for logins drop connections before the login: those are made again. */
import type { ConcurrencyLimit } from './concurrency-limit.ts';
import { retry } from './retry.ts';
import type { SessionSettings } from './settings.ts';

/** The connection ended before its login began. Its cause is the error for the user, should no other try do. */
export class DroppedConnectionError extends Error {
  constructor(cause: unknown) {
    super('dropped before the login', { cause });
  }
}

/** Makes a connection when its turn has come, again while it is dropped. Only DroppedError is worth another try. */
export async function connectWithRetries<T>(
  label: string,
  connect: () => Promise<T>,
  limit: ConcurrencyLimit,
  { signal, emit }: Pick<SessionSettings, 'signal' | 'emit'>,
): Promise<T> {
  const passes = (error: unknown) => {
    if (!(error instanceof DroppedConnectionError)) return false;
    emit({ kind: 'log', message: `${label}: the server dropped the connection before the login` });
    return true;
  };
  try {
    return await limit(signal, () => retry(connect, passes, signal));
  } catch (error) {
    throw error instanceof DroppedConnectionError ? error.cause : error;
  }
}
