/** Limits how many jobs run at a time; the others wait in order, each until its signal aborts. */
export type ConcurrencyLimit = <T>(signal: AbortSignal, job: () => Promise<T>) => Promise<T>;

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

  /** A place that is given up goes to the first in the queue without becoming free in between. */
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
