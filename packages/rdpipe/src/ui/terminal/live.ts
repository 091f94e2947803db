/** The live display: a spinner while connecting, then rows that are redrawn.
 *
 * Import this module only after `protectPayload`: its library opens process.stdout.
 */
import ora, { type Ora } from 'ora';
import { cutEnd } from '../../model/width.ts';
import type { Display } from './display.ts';

const INTERVAL_MS = 100;

export interface Rows {
  /** The progress of every hop, one line each, for a terminal with `columns`. */
  readonly at: (columns: number) => readonly string[];
  /** The last rows stay on the terminal. */
  readonly stay: boolean;
}

export const NO_ROWS: Rows = { at: () => [], stay: false };

/**
 * A display on a terminal; `write` takes the text above the spinner or the rows. Above rows it waits until they are
 * redrawn: to redraw them for every line would take more time than the run.
 */
export function createLiveDisplay(stream: NodeJS.WriteStream, write: Display['text'], rows: Rows): Display {
  const spinner = createSpinner(stream);
  const table = createTable(stream, rows, () => writeWaiting());
  let below: LivePart | undefined;
  let isShown = false;
  let pauses = 0;
  let lineIsOpen = false;
  let waiting: (string | Uint8Array)[] = [];
  const hide = () => {
    if (isShown) below?.hide();
    isShown = false;
  };
  const show = () => {
    if (isShown || pauses > 0 || lineIsOpen) return;
    below?.show();
    isShown = below !== undefined;
  };
  const writeWaiting = () => {
    const last = waiting.at(-1);
    if (last === undefined) return;
    hide();
    for (const text of waiting) write(text);
    waiting = [];
    if (last.length > 0) lineIsOpen = !endsLine(last);
    show();
  };
  const replaceBy = (next: LivePart | undefined) => {
    writeWaiting();
    if (next !== below) hide();
    below = next;
    show();
  };
  return {
    text(text) {
      waiting.push(text);
      if (below !== table || !isShown || !endsLine(text)) writeWaiting();
    },
    status(text) {
      spinner.setText(text ?? '');
      replaceBy(text === undefined ? undefined : spinner);
    },
    startRows: () => replaceBy(table),
    output: () => replaceBy(undefined),
    pause() {
      writeWaiting();
      pauses += 1;
      hide();
    },
    resume() {
      pauses = Math.max(0, pauses - 1);
      show();
    },
    stop() {
      writeWaiting();
      if (isShown) below?.finish();
      isShown = false;
      below = undefined;
    },
  };
}

/** The spinner or the rows below the text: shown, then hidden or finished. */
interface LivePart {
  show(): void;
  hide(): void;
  /** Ends the display, leaving the rows that stay. */
  finish(): void;
}

/** Keeps the cursor visible, in case this process is killed, and does not read standard input, which is payload. */
function createSpinner(stream: NodeJS.WriteStream): LivePart & { setText(text: string): void } {
  const spinner: Ora = ora({ stream, isEnabled: true, discardStdin: false, hideCursor: false });
  return {
    setText: (text) => {
      spinner.text = cutEnd(text, Math.max(1, stream.columns - SPINNER_COLUMNS));
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

/** The spinner's own column, the blank after it, and two that ora counts and leaves empty. */
const SPINNER_COLUMNS = 4;

/**
 * The cursor is at the beginning of the first row. Everything below the last row is erased, so that no parts of rows
 * remain after the terminal was resized.
 */
function createTable(stream: NodeJS.WriteStream, { at, stay }: Rows, beforeRedraw: () => void): LivePart {
  let drawn = '';
  let timer: NodeJS.Timeout | undefined;
  const draw = () => {
    const lines = fitting(at(stream.columns - 1), stream.rows - 1);
    const frame =
      lines.length === 0 ? '' : `\r${unbroken(lines.join(NEXT_ROW))}${ERASE_BELOW}${up(lines.length - 1)}\r`;
    const next = `${stream.columns} ${stream.rows} ${frame}`;
    if (next === drawn) return;
    drawn = next;
    if (frame !== '') stream.write(atOnce(frame));
  };
  const redraw = () => {
    beforeRedraw();
    draw();
  };
  const erase = () => {
    clearInterval(timer);
    if (drawn.includes(ERASE_BELOW)) stream.write(ERASE);
    drawn = '';
  };
  return {
    show() {
      draw();
      timer = setInterval(redraw, INTERVAL_MS).unref();
    },
    hide: erase,
    finish() {
      erase();
      const lines = stay ? at(stream.columns - 1) : [];
      if (lines.length > 0) stream.write(`${lines.join('\r\n')}\r\n`);
    },
  };
}

/** The lines that fit; the last counts those that do not. */
function fitting(lines: readonly string[], most: number): readonly string[] {
  if (lines.length <= most || most < 1) return lines.slice(0, Math.max(0, most));
  return [...lines.slice(0, most - 1), `… ${lines.length - most + 1} more`];
}

const ERASE_LINE = '\u001b[K';
const ERASE_BELOW = '\u001b[J';
const NEXT_ROW = `${ERASE_LINE}\r\n`;

/**
 * Erases the cursor's row, then all rows below. If the whole screen is erased at once, a terminal with a history (tmux)
 * moves the screen into it.
 */
const ERASE = `\r${ERASE_LINE}\u001b7\u001b[B${ERASE_BELOW}\u001b8`;

function up(rows: number): string {
  return rows === 0 ? '' : `\u001b[${rows}A`;
}

/** Disables line wrapping, so that the terminal cuts a row whose wide characters do not fit. */
function unbroken(text: string): string {
  return `\u001b[?7l${text}\u001b[?7h`;
}

/** Terminals with synchronized output show the frame only when it is complete. */
function atOnce(frame: string): string {
  return `\u001b[?2026h${frame}\u001b[?2026l`;
}

function endsLine(text: string | Uint8Array): boolean {
  const last = typeof text === 'string' ? text.charCodeAt(text.length - 1) : text.at(-1);
  return last === 0x0a;
}
