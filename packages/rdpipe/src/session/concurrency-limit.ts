/** Limits how many jobs run at the same time; the others wait in order, each until its signal aborts. */
export type ConcurrencyLimit = <T>(signal: AbortSignal, job: () => Promise<T>) => Promise<T>;

/** Returns a limit of `places` jobs. A job that has not started rejects with its signal's reason. */
export function createConcurrencyLimit(places: number): ConcurrencyLimit {
  let free = places;
  const waiting: (() => void)[] = [];

  const enter = (signal: AbortSignal): Promise<void> => {
    signal.throwIfAborted();
    if (free > 0) {
      free -= 1;
      return Promise.resolve();
    }
    return new Promise((resolve, reject) => {
      const admit = () => {
        signal.removeEventListener('abort', leave);
        resolve();
      };
      const leave = () => {
        waiting.splice(waiting.indexOf(admit), 1);
        reject(signal.reason);
      };
      waiting.push(admit);
      signal.addEventListener('abort', leave, { once: true });
    });
  };

  /** Passes a place directly to the first job that waits, so that no other job can take it. */
  const leave = () => {
    const next = waiting.shift();
    if (next) next();
    else free += 1;
  };

  return async (signal, job) => {
    await enter(signal);
    try {
      return await job();
    } finally {
      leave();
    }
  };
}
