/** Controls timeouts and the clock of the code under test: time passes only when a test calls `pass`. */
import { syncBuiltinESMExports } from 'node:module';
import timers from 'node:timers/promises';

interface Timeout {
  readonly run: () => void;
  readonly afterMs: number;
  dueMs: number;
}

const real = { setTimeout: globalThis.setTimeout, clearTimeout: globalThis.clearTimeout };
const realDelay = timers.setTimeout;
const running = new Map<unknown, Timeout>();
let nowMs = 0;

/** Like ui/intervals.ts, but for timeouts: intervals, Date and other processes continue. */
export const time = {
  freeze(): void {
    globalThis.setTimeout = start as typeof setTimeout;
    globalThis.clearTimeout = (timer) => void running.delete(timer);
    performance.now = () => nowMs;
  },
  /** Also freezes node:timers/promises, with which tests wait. */
  freezeAll(): void {
    time.freeze();
    setDelay(delay as typeof timers.setTimeout);
  },
  /** Runs all timeouts that are due by then, in order; resolves when the code that waited for them has continued. */
  async pass(ms: number): Promise<void> {
    const endMs = nowMs + ms;
    await turns();
    for (let next = first(); next !== undefined && next[1].dueMs <= endMs; next = first()) {
      const [timer, { run, dueMs }] = next;
      nowMs = dueMs;
      running.delete(timer);
      run();
      await turns();
    }
    nowMs = endMs;
  },
  reset(): void {
    Object.assign(globalThis, real);
    Reflect.deleteProperty(performance, 'now');
    setDelay(realDelay);
    running.clear();
  },
};

function start(run: () => void, afterMs: number): { unref(): unknown; refresh(): unknown } {
  const refresh = () => {
    running.set(timer, { run, afterMs, dueMs: nowMs + afterMs });
    return timer;
  };
  const timer = { unref: () => timer, refresh };
  return refresh();
}

/** setTimeout of node:timers/promises. */
function delay(ms: number, _value: unknown, { signal }: { signal?: AbortSignal } = {}): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = start(resolve, ms);
    const abort = () => {
      running.delete(timer);
      reject(signal?.reason);
    };
    if (signal?.aborted) abort();
    signal?.addEventListener('abort', abort, { once: true });
  });
}

function setDelay(delayOf: typeof timers.setTimeout): void {
  timers.setTimeout = delayOf;
  syncBuiltinESMExports();
}

function first(): [unknown, Timeout] | undefined {
  return [...running].sort(([, one], [, other]) => one.dueMs - other.dueMs)[0];
}

/** More turns of the event loop than any chain of answers in one process needs. */
async function turns(): Promise<void> {
  for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}
