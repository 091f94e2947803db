/** Shows a benchmark: what is done on a terminal, then a table on standard output; or JSON. */
import type { Benchmark } from '../model/benchmark.ts';
import type { RunEvent } from '../model/events.ts';
import type { Settings } from '../model/settings.ts';
import { jsonText, printable } from '../model/text.ts';
import { benchLines } from './bench-lines.ts';
import { failureReport, failureText, messageLine } from './failure.ts';
import { dispatch } from './renderer.ts';
import { createStatusDisplay, type Output, statusHandlers } from './status.ts';
import type { Terminal } from './terminal.ts';

export interface BenchView {
  /** Neither throws. */
  readonly doing: (words: string) => void;
  /** Of the runs that measure. */
  readonly emit: (event: RunEvent) => void;
  finished(benchmark: Benchmark): void;
  /** What else went wrong: one line. */
  warn(message: string): void;
  /** A benchmark that came to no end. */
  failure(error: unknown): void;
  /** Leaves the terminal as it was. Idempotent. */
  close(): void;
}

type BenchSettings = Pick<Settings, 'json' | 'quiet' | 'verbosity'>;

/** `protectPayload` comes first: the libraries of the live display look at process.stdout. */
export async function createBenchView(settings: BenchSettings, terminal: Terminal, output: Output): Promise<BenchView> {
  if (settings.json) return createJsonBenchView(terminal, output);
  const display = await createStatusDisplay(settings, terminal);
  const log = (message: string) => {
    if (settings.verbosity >= 1) display.text(messageLine(message));
  };
  const handlers = statusHandlers(display, log);
  return {
    doing: (words) => display.status(printable(words)),
    emit: (event) => dispatch(handlers, event),
    finished(benchmark) {
      display.stop();
      output.write(
        benchLines(benchmark)
          .map((line) => `${line}\n`)
          .join(''),
      );
    },
    warn: (message) => display.text(messageLine(message)),
    failure(error) {
      display.stop();
      display.text(failureText(error));
    },
    close: () => display.stop(),
  };
}

/** One object, when everything is known. */
export function createJsonBenchView({ write: complain }: Pick<Terminal, 'write'>, { write }: Output): BenchView {
  const nothing = () => {};
  return {
    doing: nothing,
    emit: nothing,
    finished: (benchmark) => write(`${jsonText(benchmark)}\n`),
    warn: (message) => complain(messageLine(message)),
    failure(error) {
      const { v, status, message } = failureReport(error);
      write(`${jsonText({ v, status, message, ways: [], missing: [] })}\n`);
    },
    close: nothing,
  };
}
