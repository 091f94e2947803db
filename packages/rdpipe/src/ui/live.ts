/**
 * Progress on a terminal: a spinner while connecting, then rows that are redrawn. Load this module only when
 * process.stdout is out of reach: both libraries look at it.
 */
import { createLogUpdate } from 'log-update';
import ora, { type Ora } from 'ora';
import type { Display } from './display.ts';

const INTERVAL_MS = 100;

/** @param rows the progress of every hop, a line each, for a terminal of so many columns. */
export function createLiveDisplay(
  stream: NodeJS.WriteStream,
  write: Display['text'],
  rows: (columns: number) => readonly string[],
): Display {
  const spinner = createSpinner(stream);
  const table = createTable(stream, rows);
  let below: Below | undefined;
  let isShown = false;
  let pauses = 0;
  let lineIsOpen = false;
  const hide = () => {
    if (isShown) below?.hide();
    isShown = false;
  };
  const show = () => {
    if (isShown || pauses > 0 || lineIsOpen) return;
    below?.show();
    isShown = below !== undefined;
  };
  const replaceBy = (next: Below | undefined) => {
    if (next !== below) hide();
    below = next;
    show();
  };
  return {
    text(text) {
      hide();
      write(text);
      if (text.length > 0) lineIsOpen = !endsLine(text);
      show();
    },
    status(text) {
      spinner.say(text ?? '');
      replaceBy(text === undefined ? undefined : spinner);
    },
    startRows: () => replaceBy(table),
    pause() {
      pauses += 1;
      hide();
    },
    resume() {
      pauses = Math.max(0, pauses - 1);
      show();
    },
    stop() {
      if (isShown) below?.finish();
      isShown = false;
      below = undefined;
    },
  };
}

/** What stands below the text: shown, then hidden or finished. */
interface Below {
  show(): void;
  hide(): void;
  /** Leaves what should stay on the terminal. */
  finish(): void;
}

/** The cursor stays visible, so that it is there whatever ends us; standard input is not ours to read. */
function createSpinner(stream: NodeJS.WriteStream): Below & { say(text: string): void } {
  const spinner: Ora = ora({ stream, isEnabled: true, discardStdin: false, hideCursor: false });
  return {
    say: (text) => {
      spinner.text = text;
    },
    show: () => {
      spinner.start();
    },
    hide: () => {
      spinner.stop();
    },
    finish: () => {
      spinner.stop();
    },
  };
}

function createTable(stream: NodeJS.WriteStream, rows: (columns: number) => readonly string[]): Below {
  const update = createLogUpdate(stream, { showCursor: true });
  const draw = () => {
    const lines = rows(stream.columns - 1);
    if (lines.length > 0) update(lines.join('\n'));
  };
  let timer: NodeJS.Timeout | undefined;
  return {
    show() {
      draw();
      timer = setInterval(draw, INTERVAL_MS).unref();
    },
    hide() {
      clearInterval(timer);
      update.clear();
    },
    finish() {
      clearInterval(timer);
      draw();
      update.done();
    },
  };
}

function endsLine(text: string | Uint8Array): boolean {
  const last = typeof text === 'string' ? text.charCodeAt(text.length - 1) : text.at(-1);
  return last === 0x0a;
}
