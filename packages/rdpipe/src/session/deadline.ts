/** A time limit that can stand still while a person is asked something. */
export interface Deadline {
  /** Aborts when the time is up. */
  readonly expired: AbortSignal;
  /** Pauses nest: as many resumes as pauses set the clock going again. */
  pause(): void;
  resume(): void;
  stop(): void;
}

export function startDeadline(limitMs: number): Deadline {
  const controller = new AbortController();
  let leftMs = limitMs;
  let pauses = 0;
  let startedMs = 0;
  let timer: NodeJS.Timeout | undefined;

  const go = () => {
    startedMs = performance.now();
    timer = setTimeout(() => controller.abort(), Math.max(0, leftMs));
  };
  const stop = () => clearTimeout(timer);
  go();

  return {
    expired: controller.signal,
    pause() {
      pauses += 1;
      if (pauses > 1) return;
      stop();
      leftMs -= performance.now() - startedMs;
    },
    resume() {
      pauses -= 1;
      if (pauses === 0) go();
    },
    stop,
  };
}
