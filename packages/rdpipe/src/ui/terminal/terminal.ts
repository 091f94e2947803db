/** Standard error as an output: writes, terminal size, foreground. */
import { readFileSync, writeSync } from 'node:fs';
import { isatty } from 'node:tty';
import { UNLIMITED } from '../columns.ts';

export interface Terminal {
  /** Text is shown to a person, and control characters would act on the terminal. */
  readonly isTerminal: boolean;
  /** The terminal's stream, for the live display; undefined if standard error is not a terminal or cannot redraw. */
  readonly stream: NodeJS.WriteStream | undefined;
  readonly color: boolean;
  /** The width of lines, which changes with the window; absent: unlimited, because no person reads them. */
  readonly columns?: () => number;
  /** Never throws: without a reader, text is dropped. */
  write(text: string | Uint8Array): void;
}

/** Standard error; `environment` has TERM and NO_COLOR. */
export function openTerminal(environment: NodeJS.ProcessEnv): Terminal {
  const isTerminal = isatty(2);
  const stream = isTerminal && environment.TERM !== 'dumb' ? withSize(process.stderr) : undefined;
  const color = stream !== undefined && !environment.NO_COLOR;
  const columns = () => (isTerminal && process.stderr.columns > 0 ? process.stderr.columns : UNLIMITED);
  return { isTerminal, stream, color, columns, write: (text) => writeAll(2, Buffer.from(text)) };
}

/** The width of lines on standard output: as a terminal it is almost always that of standard error. */
export function outputColumns({ isTerminal, columns }: Pick<Terminal, 'isTerminal' | 'columns'>): number {
  if (!isatty(1)) return UNLIMITED;
  return isTerminal && columns !== undefined ? columns() : USUAL_COLUMNS;
}

const USUAL_COLUMNS = 80;

/** A terminal without a known size, such as a serial line, cannot be redrawn. */
function withSize(stream: NodeJS.WriteStream): NodeJS.WriteStream | undefined {
  return stream.columns > 0 && stream.rows > 0 ? stream : undefined;
}

/**
 * Returns false if the shell put rdpipe into the background, where rows would disturb the user. Returns true if there
 * is no controlling terminal.
 */
export function isInForeground(): boolean {
  const [, , group, , , foreground] = readFileSync('/proc/self/stat', 'latin1')
    .replace(/^.*\) /s, '')
    .split(' ');
  return foreground === '-1' || foreground === group;
}

/** The longest wait for the reader of a full non-blocking pipe, while it reads nothing. */
const PATIENCE_MS = 5000;
const PAUSE_MS = 5;

/** Writes everything; gives up on an error, or if a full non-blocking descriptor accepts nothing for `patienceMs`. */
export function writeAll(descriptor: number, bytes: Uint8Array, patienceMs = PATIENCE_MS): void {
  let end = performance.now() + patienceMs;
  let written = 0;
  while (written < bytes.length) {
    try {
      written += writeSync(descriptor, bytes, written);
      end = performance.now() + patienceMs;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN' || performance.now() > end) return;
      pause();
    }
  }
}

/** Sleeps, because node has no poll(2). */
function pause(): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, PAUSE_MS);
}
