/** The text of a failure: one line, and for a usage error its position in the command line. */
import { RdpipeError, shortageOf, statusOf, UsageError } from '../../model/errors.ts';
import type { Report } from '../../model/report.ts';
import { printable } from '../../model/text.ts';
import { cutBeginning, cutEnd, splitAt, widthOf } from '../../model/width.ts';
import { UNLIMITED, wrap } from '../columns.ts';
import { NO_COLORS } from './colors.ts';

/** The text for standard error: `rdpipe: stage 2 has no host: rev`, with the detail below if there is one. */
export function failureText(error: unknown, colors = NO_COLORS, program = 'rdpipe', columns = UNLIMITED): string {
  const detail = error instanceof UsageError ? error.detail : undefined;
  const below = detail === undefined ? '' : `${fitCarets(detail, columns).join('\n')}\n`;
  return messageLine(messageOf(error), colors.failure, program) + below;
}

/**
 * The command line with carets under a word and a hint, on a terminal: only what is around the word, and the hint
 * below if it is too long.
 */
function fitCarets(detail: string, columns: number): readonly string[] {
  const [line = '', carets = '', hint = ''] = /^(.*)\n( *\^+) (.*)$/s.exec(detail)?.slice(1) ?? [];
  if (carets === '' || detail.split('\n').every((text) => widthOf(text) <= columns)) return detail.split('\n');
  const [before, after] = splitAt(line, carets.length);
  const shown = cutBeginning(before, columns - 2);
  const marks = carets.trimStart().slice(0, widthOf(shown)).padStart(widthOf(shown));
  const ends = widthOf(`${marks} ${hint}`) <= columns ? [`${marks} ${hint}`] : [marks, ...wrap(`  ${hint}`, columns)];
  return [cutEnd(shown + after, columns), ...ends];
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
