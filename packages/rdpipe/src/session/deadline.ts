/** A deadline that can be paused, as while the user is asked a question. */
export interface Deadline {
  /** Aborts when the time is up. */
  readonly expired: AbortSignal;
  /** Pauses nest: as many resumes as pauses set the clock going again. */
  pause(): void;
  resume(): void;
  /** Gives the whole time again, for what comes next. Returns the milliseconds that were taken, pauses apart. */
  restart(): number;
  /** Returns what `restart` does. */
  stop(): number;
}

/** @param reason of `expired`, for those that listen to it */
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
