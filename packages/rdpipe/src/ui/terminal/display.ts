/** What stands below the text on standard error: nothing, a line now and then, or rows that are redrawn. */

export interface Display {
  /** Text that stays, whole lines unless a stage's raw output is not. */
  text(text: string | Uint8Array): void;
  /** What is waited for before the run; undefined when nothing is. */
  status(text: string | undefined): void;
  /** Shows the progress of hops from now on. */
  startRows(): void;
  /** The pipeline's output begins on the same terminal: nothing may be drawn there from now on. */
  output(): void;
  /** The terminal belongs to somebody else for a while: a prompt, the shell. */
  pause(): void;
  resume(): void;
  /** Idempotent. */
  stop(): void;
}

/** No display at all: text goes straight through. */
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
