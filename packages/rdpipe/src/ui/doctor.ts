/** Shows an examination: findings on standard output as they come, what is done meanwhile on a terminal; or JSON at the end. */
import type { RunEvent } from '../model/events.ts';
import type { DoctorEvent, Examination } from '../model/examination.ts';
import type { Settings } from '../model/settings.ts';
import { jsonText, printable } from '../model/text.ts';
import { createPaint } from './create-renderer.ts';
import type { Display } from './display.ts';
import { hostLines, pairLines, verdictLine } from './doctor-lines.ts';
import { failureReport, failureText, messageLine } from './failure.ts';
import { dispatch } from './renderer.ts';
import { createStatusDisplay, type Output, statusHandlers } from './status.ts';
import type { Terminal } from './terminal.ts';

export type { Output };

export interface DoctorView {
  /** Neither throws. */
  readonly tell: (event: DoctorEvent) => void;
  /** Of the runs that measure. */
  readonly emit: (event: RunEvent) => void;
  finished(examination: Examination): void;
  /** An examination that came to no end. */
  failure(error: unknown): void;
  /** Leaves the terminal as it was. Idempotent. */
  close(): void;
}

type DoctorSettings = Pick<Settings, 'json' | 'quiet' | 'verbosity'>;

/** `protectPayload` comes first: the libraries of the live display look at process.stdout. */
export async function createDoctorView(
  settings: DoctorSettings,
  terminal: Terminal,
  output: Output,
): Promise<DoctorView> {
  if (settings.json) return createJsonView(output);
  return createHumanView(settings, await createStatusDisplay(settings, terminal), output);
}

/** One object, when everything is known. */
export function createJsonView({ write }: Output): DoctorView {
  const nothing = () => {};
  return {
    tell: nothing,
    emit: nothing,
    finished: (examination) => write(`${jsonText(examination)}\n`),
    failure(error) {
      const { v, status, message } = failureReport(error);
      write(`${jsonText({ v, status, message, hosts: [], pairs: [] })}\n`);
    },
    close: nothing,
  };
}

async function createHumanView(settings: DoctorSettings, display: Display, output: Output): Promise<DoctorView> {
  const { quiet, verbosity } = settings;
  const paint = await createPaint(output.color);
  const print = (lines: readonly string[]) => {
    display.pause();
    output.write(lines.map((line) => `${line}\n`).join(''));
    display.resume();
  };
  const log = (message: string) => {
    if (verbosity >= 1) display.text(messageLine(message));
  };
  const handlers = statusHandlers(display, log);
  return {
    tell(event) {
      if (event.kind === 'doing') display.status(printable(event.words));
      else if (event.kind === 'host') print(hostLines(event.host, quiet, paint));
      else print(pairLines(event.pair, quiet, paint));
    },
    emit: (event) => dispatch(handlers, event),
    finished(examination) {
      display.stop();
      if (!quiet) output.write(`${verdictLine(examination)}\n`);
    },
    failure(error) {
      display.stop();
      display.text(failureText(error));
    },
    close: () => display.stop(),
  };
}
