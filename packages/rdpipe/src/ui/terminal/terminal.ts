/** Standard error as an output: writes, terminal size, foreground. */
import { readFileSync, writeSync } from 'node:fs';
import { isatty } from 'node:tty';

export interface Terminal {
  /** A person reads there, and what is written may act on their screen. */
  readonly isTerminal: boolean;
  /** The terminal's own stream, for what redraws; undefined where standard error is none, or cannot redraw. */
  readonly stream: NodeJS.WriteStream | undefined;
  readonly color: boolean;
  /** Never throws: without a reader, text is dropped. */
  write(text: string | Uint8Array): void;
}

export function openTerminal(environment: NodeJS.ProcessEnv): Terminal {
  const isTerminal = isatty(2);
  const stream = isTerminal && environment.TERM !== 'dumb' ? withSize(process.stderr) : undefined;
  const color = stream !== undefined && !environment.NO_COLOR;
  return { isTerminal, stream, color, write: (text) => writeAll(2, Buffer.from(text)) };
}

/** Nothing can be redrawn on a terminal that does not know its size, as some serial lines and pseudo-terminals. */
function withSize(stream: NodeJS.WriteStream): NodeJS.WriteStream | undefined {
  return stream.columns > 0 && stream.rows > 0 ? stream : undefined;
}

/**
 * False: the shell put rdpipe into the background, and rows would disturb its user. True without a controlling
 * terminal.
 */
export function isInForeground(): boolean {
  const [, , group, , , foreground] = readFileSync('/proc/self/stat', 'latin1')
    .replace(/^.*\) /s, '')
    .split(' ');
  return foreground === '-1' || foreground === group;
}

/** Longest wait for the reader of a pipe that is non-blocking, while it takes nothing. */
const PATIENCE_MS = 5000;
const PAUSE_MS = 5;

/** Writes everything, waiting where the descriptor is non-blocking and full; gives up on an error. */
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

/** node has no poll(2). */
function pause(): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, PAUSE_MS);
}
