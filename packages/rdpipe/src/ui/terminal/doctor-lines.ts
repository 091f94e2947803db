/** The text of an examination: a block per host and per pair. */
import type { Examination, Finding, HostExamination, PairExamination } from '../../model/examination.ts';
import { printable } from '../../model/text.ts';
import { padTo, widthOf } from '../../model/width.ts';
import { wrap } from '../columns.ts';
import type { Colors } from './colors.ts';

export interface FindingStyle {
  /** Show only problems. */
  readonly quiet: boolean;
  readonly colors: Colors;
  /** The width of lines. */
  readonly columns: number;
}

/** The host's name and a line per check, with its fix below; empty if there is nothing to show. */
export function hostLines({ host, checks }: HostExamination, style: FindingStyle): readonly string[] {
  return block(host, checks, style);
}

/** Like `hostLines`, for a pair of hosts. */
export function pairLines({ hosts, checks }: PairExamination, style: FindingStyle): readonly string[] {
  return block(hosts.join(' and '), checks, style);
}

/** `no problems found`, `2 checks failed, 1 warning`. */
export function verdictLine({ hosts, pairs }: Examination): string {
  const results = [...hosts, ...pairs].flatMap(({ checks }) => checks.map(({ result }) => result));
  const failed = results.filter((result) => result === 'fail').length;
  const warned = results.filter((result) => result === 'warn').length;
  const warnings = warned === 0 ? [] : [counted(warned, 'warning')];
  if (failed === 0) return ['no problems found', ...warnings].join(', ');
  return [`${counted(failed, 'check')} failed`, ...warnings].join(', ');
}

function block(title: string, checks: readonly Finding[], style: FindingStyle): readonly string[] {
  const shown = style.quiet ? checks.filter(({ result }) => result !== 'ok') : checks;
  if (shown.length === 0) return [];
  const width = Math.max(...shown.map(({ check }) => widthOf(printable(check))));
  return [style.colors.speaker(printable(title)), ...shown.flatMap((finding) => findingLines(finding, width, style))];
}

function findingLines(
  { check, result, found, fix }: Finding,
  width: number,
  { colors, columns }: FindingStyle,
): readonly string[] {
  const verdict = result === 'ok' ? 'ok  ' : colors.failure(result);
  const indent = Math.min(width + 10, Math.floor(columns / 3));
  const first = wrap(`  ${verdict}  ${padTo(printable(check), width)}  ${oneLine(found)}`, columns, indent);
  return fix === null ? first : [...first, ...wrap(`${' '.repeat(indent)}→ ${oneLine(fix)}`, columns, indent + 2)];
}

function oneLine(text: string): string {
  return printable(text.replace(/\s*\n\s*/g, '; '));
}

function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`;
}
