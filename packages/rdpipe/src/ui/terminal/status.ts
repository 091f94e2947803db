/** The status line of `rdpipe doctor` and `rdpipe bench`. */

import type { Watcher } from '../../model/events.ts';
import type { Settings } from '../../model/settings.ts';
import { jsonText, printable } from '../../model/text.ts';
import { formatBytes } from '../../model/units.ts';
import { dispatch, type EventHandlers } from '../renderer.ts';
import { createNoDisplay, type Display } from './display.ts';
import { failureReport, failureText, messageLine } from './failure.ts';
import type { Terminal } from './terminal.ts';

/** The output for findings: standard output. */
export interface Output {
  readonly color: boolean;
  /** The width of lines; absent: unlimited. */
  readonly columns?: () => number;
  write(text: string): void;
}

/** The common functions of both views. */
export interface StatusView extends Watcher {
  /** The work failed. */
  failure(error: unknown): void;
  /** Restores the terminal. Idempotent. */
  close(): void;
}

export type StatusSettings = Pick<Settings, 'json' | 'quiet' | 'verbosity'>;

/** Call this only after `protectPayload`: the libraries of the live display open process.stdout. */
export async function createStatusView(
  settings: StatusSettings,
  terminal: Terminal,
): Promise<{ readonly view: StatusView; readonly display: Display }> {
  const display = await createDisplay(settings, terminal);
  const log = (message: string) => {
    if (settings.verbosity >= 1) display.text(messageLine(message));
  };
  const handlers = statusHandlers(display, log);
  const view: StatusView = {
    doing: (words) => display.status(printable(words)),
    emit: (event) => dispatch(handlers, event),
    failure(error) {
      display.stop();
      display.text(failureText(error, undefined, undefined, terminal.columns?.()));
    },
    close: () => display.stop(),
  };
  return { view, display };
}

/** Writes one object after a failure: status, message, and the empty results `nothing`. */
export function createJsonStatusView({ write }: Output, nothing: object): StatusView {
  const ignore = () => {};
  return {
    doing: ignore,
    emit: ignore,
    failure(error) {
      const { v, status, message } = failureReport(error);
      write(`${jsonText({ v, status, message, ...nothing })}\n`);
    },
    close: ignore,
  };
}

async function createDisplay({ quiet }: StatusSettings, { stream, write }: Terminal): Promise<Display> {
  if (quiet || stream === undefined) return createNoDisplay(write);
  const { createLiveDisplay, NO_ROWS } = await import('./live.ts');
  return createLiveDisplay(stream, write, NO_ROWS);
}

/** The events of measuring runs that are shown; findings report all others. */
function statusHandlers(display: Display, log: (message: string) => void): Partial<EventHandlers> {
  return {
    deploying({ host, bytes, copied }) {
      display.status(`copying the agent to ${printable(host)}: ${formatBytes(copied)} of ${formatBytes(bytes)}`);
      if (copied === 0) log(`${host}: copying the agent, ${formatBytes(bytes)}`);
    },
    prompting: ({ active }) => (active ? display.pause() : display.resume()),
    suspended: () => display.pause(),
    resumed: () => display.resume(),
    hop_connected: ({ transport, cipher, way }) => log(`connected: ${transport}, ${cipher}, ${way}`),
    log: ({ message }) => log(message),
    warning: ({ message }) => log(`warning: ${message}`),
  };
}
