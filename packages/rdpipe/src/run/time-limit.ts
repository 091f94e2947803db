/** The run's own clock. It stands still while the run is suspended. */
export interface TimeLimit {
  pause(): void;
  resume(): void;
  stop(): void;
}

/** Calls `onLimit` once after `limitMs` of running time; never without a limit. */
export function startTimeLimit(limitMs: number | undefined, onLimit: () => void): TimeLimit {
  if (limitMs === undefined) return { pause() {}, resume() {}, stop() {} };
  let leftMs = limitMs;
  let startedMs = performance.now();
  let timer = setTimeout(onLimit, leftMs);
  return {
    pause() {
      clearTimeout(timer);
      leftMs -= performance.now() - startedMs;
    },
    resume() {
      startedMs = performance.now();
      timer = setTimeout(onLimit, Math.max(0, leftMs));
    },
    stop: () => clearTimeout(timer),
  };
}
