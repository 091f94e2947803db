/** Progress where nothing can be redrawn: a line a hop every 10 seconds. */
import { createNoDisplay, type Display } from './display.ts';

const INTERVAL_MS = 10_000;

/** @param rows the progress of every hop, a line each; none: nothing is to be said. */
export function createPlainDisplay(write: Display['text'], rows: () => readonly string[]): Display {
  let timer: NodeJS.Timeout | undefined;
  const pause = () => clearInterval(timer);
  const resume = () => {
    clearInterval(timer);
    timer = setInterval(() => {
      const lines = rows().map((row) => `rdpipe: ${row}\n`);
      if (lines.length > 0) write(lines.join(''));
    }, INTERVAL_MS).unref();
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
