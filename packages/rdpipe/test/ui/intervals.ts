/** Controls the intervals of the code under test: time passes only when a test calls `tick`. */

interface Interval {
  readonly run: () => void;
  readonly everyMs: number;
  dueMs: number;
}

const real = { setInterval: globalThis.setInterval, clearInterval: globalThis.clearInterval };
const running = new Map<unknown, Interval>();
let nowMs = 0;

/** Used instead of mock.timers, whose intervals have no unref() on Node 18. */
export const intervals = {
  enable(): void {
    globalThis.setInterval = start as typeof setInterval;
    globalThis.clearInterval = (timer) => void running.delete(timer);
  },
  /** Runs all intervals that are due by then, in order. */
  tick(ms: number): void {
    const endMs = nowMs + ms;
    for (let next = first(); next !== undefined && next.dueMs <= endMs; next = first()) {
      nowMs = next.dueMs;
      next.dueMs += next.everyMs;
      next.run();
    }
    nowMs = endMs;
  },
  reset(): void {
    Object.assign(globalThis, real);
    running.clear();
  },
};

function start(run: () => void, everyMs: number): { unref(): unknown } {
  const timer = { unref: () => timer };
  running.set(timer, { run, everyMs, dueMs: nowMs + everyMs });
  return timer;
}

function first(): Interval | undefined {
  return [...running.values()].sort((one, other) => one.dueMs - other.dueMs)[0];
}
