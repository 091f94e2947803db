/** A deadline that can be paused, for example while the user is asked a question. */
export interface Deadline {
  /** Aborts when the time limit has passed. */
  readonly expired: AbortSignal;
  /** Pauses nest: the clock runs again after as many resumes as pauses. */
  pause(): void;
  resume(): void;
  /** Restarts the full time limit, for the next step. Returns the milliseconds that have passed, without pauses. */
  restart(): number;
  /** Stops the clock. Returns the same as `restart`. */
  stop(): number;
}

/**
 * Starts the clock.
 * @param reason abort reason of `expired`
 */
export function startDeadline(limitMs: number, reason?: Error): Deadline {
  const controller = new AbortController();
  let leftMs = limitMs;
  let pauses = 0;
  let startedMs = 0;
  let timer: NodeJS.Timeout | undefined;

  const go = () => {
    startedMs = performance.now();
    timer = setTimeout(() => controller.abort(reason), Math.max(0, leftMs));
  };
  const hold = () => {
    clearTimeout(timer);
    leftMs -= performance.now() - startedMs;
  };
  const stop = () => {
    if (pauses === 0) hold();
    const takenMs = limitMs - leftMs;
    leftMs = limitMs;
    return takenMs;
  };
  go();

  return {
    expired: controller.signal,
    pause() {
      pauses += 1;
      if (pauses === 1) hold();
    },
    resume() {
      pauses -= 1;
      if (pauses === 0) go();
    },
    restart() {
      const takenMs = stop();
      if (pauses === 0) go();
      return takenMs;
    },
    stop,
  };
}
