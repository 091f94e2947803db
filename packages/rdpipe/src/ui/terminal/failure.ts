/** The text of a failure: one line, and for a usage error its position in the command line. */
import { RdpipeError, shortageOf, statusOf, UsageError } from '../../model/errors.ts';
import type { Report } from '../../model/report.ts';
import { printable } from '../../model/text.ts';
import { NO_COLORS } from './colors.ts';

/** The text for standard error: `rdpipe: stage 2 has no host: rev`, with the detail below if there is one. */
export function failureText(error: unknown, colors = NO_COLORS, program = 'rdpipe'): string {
  const detail = error instanceof UsageError ? error.detail : undefined;
  return messageLine(messageOf(error), colors.failure, program) + (detail === undefined ? '' : `${detail}\n`);
}

/** The message as exactly one line, with its newline. */
export function messageLine(message: string, color = NO_COLORS.speaker, program = 'rdpipe'): string {
  return `${color(`${program}:`)} ${printable(message.trimEnd().replace(/\s*\n\s*/g, '; '))}\n`;
}

/** The report of a run that did not start. */
export function failureReport(error: unknown): Report {
  const known = error instanceof RdpipeError ? error : undefined;
  return {
    v: 1,
    run: '',
    status: statusOf(error),
    cause: known?.causeKind ?? 'rdpipe',
    causeStage: null,
    message: messageOf(error),
    seconds: 0,
    stages: [],
    hops: [],
    leftBehind: [],
  };
}

/** An error that is neither an RdpipeError nor a shortage is a defect of rdpipe. */
function messageOf(error: unknown): string {
  const known = error instanceof RdpipeError ? error : shortageOf(error);
  if (known !== undefined) return known.message;
  return `internal error: ${error instanceof Error ? error.message : String(error)}`;
}
