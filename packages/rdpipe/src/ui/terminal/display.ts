/** The display: text on standard error, and progress below it. */

export interface Display {
  /** Text that stays; complete lines, except for a stage's raw output. */
  text(text: string | Uint8Array): void;
  /** Shows the reason why rdpipe waits before the run; undefined: it does not wait. */
  status(text: string | undefined): void;
  /** Shows the progress of hops from now on. */
  startRows(): void;
  /** The pipeline's output begins on the same terminal: erases rows, and draws none from now on. */
  output(): void;
  /** A prompt or the shell uses the terminal until `resume`. */
  pause(): void;
  resume(): void;
  /** Idempotent. */
  stop(): void;
}

/** No display: text is written directly. */
export function createNoDisplay(write: Display['text']): Display {
  const nothing = () => {};
  return {
    text: write,
    status: nothing,
    startRows: nothing,
    output: nothing,
    pause: nothing,
    resume: nothing,
    stop: nothing,
  };
}

const PLAIN_INTERVAL_MS = 10_000;

/**
 * For an output that cannot be redrawn: a line per hop every 10 seconds.
 * @param rows the progress of every hop, one line each; if empty, nothing is written
 */
export function createPlainDisplay(write: Display['text'], rows: () => readonly string[], program = 'rdpipe'): Display {
  let timer: NodeJS.Timeout | undefined;
  const pause = () => clearInterval(timer);
  const resume = () => {
    clearInterval(timer);
    timer = setInterval(() => {
      const lines = rows().map((row) => `${program}: ${row}\n`);
      if (lines.length > 0) write(lines.join(''));
    }, PLAIN_INTERVAL_MS).unref();
  };
  return {
    ...createNoDisplay(write),
    startRows: resume,
    pause,
    resume: () => {
      if (timer !== undefined) resume();
    },
    stop: pause,
  };
}

/** `before` until the pipeline's output begins on the same terminal, then `after`, which does not disturb it. */
export function createSwitchingDisplay(before: Display, after: Display): Display {
  let shown = before;
  return {
    text: (text) => shown.text(text),
    status: (text) => shown.status(text),
    startRows: () => shown.startRows(),
    output() {
      if (shown === after) return;
      before.stop();
      shown = after;
      after.startRows();
    },
    pause: () => shown.pause(),
    resume: () => shown.resume(),
    stop: () => shown.stop(),
  };
}
