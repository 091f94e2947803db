/** The text of an examination: a block per host and per pair. */
import type { Examination, Finding, HostExamination, PairExamination } from '../../model/examination.ts';
import { printable } from '../../model/text.ts';
import type { Colors } from './colors.ts';

/** The host's name and a line per check, with its fix below. With `quiet` only problems; empty if there are none. */
export function hostLines({ host, checks }: HostExamination, quiet: boolean, colors: Colors): readonly string[] {
  return block(host, checks, quiet, colors);
}

/** Like `hostLines`, for a pair of hosts. */
export function pairLines({ hosts, checks }: PairExamination, quiet: boolean, colors: Colors): readonly string[] {
  return block(hosts.join(' and '), checks, quiet, colors);
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

function block(title: string, checks: readonly Finding[], quiet: boolean, colors: Colors): readonly string[] {
  const shown = quiet ? checks.filter(({ result }) => result !== 'ok') : checks;
  if (shown.length === 0) return [];
  const width = Math.max(...shown.map(({ check }) => check.length));
  return [colors.speaker(printable(title)), ...shown.flatMap((finding) => findingLines(finding, width, colors))];
}

function findingLines({ check, result, found, fix }: Finding, width: number, colors: Colors): readonly string[] {
  const verdict = result === 'ok' ? 'ok  ' : colors.failure(result);
  const first = `  ${verdict}  ${printable(check).padEnd(width)}  ${oneLine(found)}`;
  return fix === null ? [first] : [first, `${' '.repeat(width + 10)}→ ${oneLine(fix)}`];
}

function oneLine(text: string): string {
  return printable(text.replace(/\s*\n\s*/g, '; '));
}

function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`;
}
