/** Rows until the pipeline's output comes to the same terminal, then what does not stand in its way. */
import type { Display } from './display.ts';

/** @param after begins when the output does. */
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
