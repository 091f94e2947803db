// SPDX-License-Identifier: Apache-2.0
// Results as Markdown tables, padded for reading on a terminal.
// They show medians with minimum and maximum, ratios, and whether goals were reached.
import type { Case, Goal } from './case.ts';
import { type Figure, ratios, spreadOf } from './figures.ts';
import type { Results } from './rounds.ts';

export interface Table {
  readonly title: string;
  readonly cases: readonly Case[];
  readonly columns: readonly Column[];
}

/** A figure, or its ratio to the figure of a case in the same round. */
export interface Column {
  readonly title: string;
  readonly figure: Figure;
  readonly digits: number;
  /** One case for all, or one for each of some cases. */
  readonly base?: Case | ReadonlyMap<Case, Case>;
  /** Omits minimum and maximum. */
  readonly brief?: true;
}

const RATIO_DIGITS = 2;

export function markdownOf({ title, cases, columns }: Table, results: Results): string {
  const heads = ['', ...columns.map((column) => column.title)];
  const rows = cases.map((one) => [one.name, ...columns.map((column) => cell(one, column, results))]);
  return `### ${title}\n\n${rowsOf(heads, rows)}`;
}

/** The table of goals of the cases that were run; empty if they have none. */
export function goalsOf(results: Results): string {
  const rows = [...results.keys()].flatMap((one) => (one.goals ?? []).map((goal) => goalRow(one, goal, results)));
  if (rows.length === 0) return '';
  return `### Goals\n\n${rowsOf(['', 'goal', 'bound', 'measured', ''], rows)}`;
}

function cell(one: Case, { figure, digits, base, brief }: Column, results: Results): string {
  if (one === base) return '1';
  const to = base === undefined || 'parts' in base ? base : base.get(one);
  if (base !== undefined && to === undefined) return '';
  return inWords(measured(one, figure, to, results), digits, brief);
}

function goalRow(one: Case, goal: Goal, results: Results): string[] {
  const { figure, base, bound, value, limit } = goal;
  const numbers = measured(one, figure, base, results);
  const of = base === undefined ? unitOf(figure) : `× ${base.name}`;
  const reachable = limit === undefined ? '' : `${limit.value}: ${limit.by}`;
  return [one.name, `${bound} ${value} ${of}`, reachable, inWords(numbers, RATIO_DIGITS), verdict(goal, numbers)];
}

/** The result of a goal; its limit decides if the goal itself was missed. */
function verdict({ bound, value, limit }: Goal, numbers: readonly number[]): string {
  if (numbers.length === 0) return 'not measured';
  const { median } = spreadOf(numbers);
  const within = (most: number) => (bound === 'at least' ? median >= most : median <= most);
  if (within(value)) return 'reached';
  return limit !== undefined && within(limit.value) ? 'bound reached' : '**missed**';
}

function unitOf(figure: Figure): string {
  const units: Partial<Record<Figure, string>> = {
    cpu_s_per_gib: 'CPU s/GiB',
    max_rss_mib: 'MiB of RSS',
    native_rss_mib: 'MiB of RSS of a native program',
    mb_per_s: 'MB/s',
  };
  return units[figure] ?? figure;
}

/** Empty if the case does not have the figure, or its base was not run. */
function measured(one: Case, figure: Figure, base: Case | undefined, results: Results): number[] {
  const own = series(results, one, figure);
  if (base === undefined) return own;
  const others = series(results, base, figure);
  return others.length < own.length ? [] : ratios(own, others);
}

function series(results: Results, one: Case, figure: Figure): number[] {
  return (results.get(one) ?? []).flatMap((figures) => figures[figure] ?? []);
}

function inWords(numbers: readonly number[], digits: number, brief?: true): string {
  if (numbers.length === 0) return '';
  const { median, least, most } = spreadOf(numbers);
  if (brief) return median.toFixed(digits);
  return `${median.toFixed(digits)} (${least.toFixed(digits)}–${most.toFixed(digits)})`;
}

/** Aligns the first column left, the others right. */
function rowsOf(heads: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = heads.map((head, column) =>
    Math.max(3, head.length, ...rows.map((row) => (row[column] ?? '').length)),
  );
  const pad = (row: readonly string[]) =>
    row.map((text, column) => (column === 0 ? text.padEnd(widths[0] ?? 0) : text.padStart(widths[column] ?? 0)));
  const rule = widths.map((width, column) => (column === 0 ? '-'.repeat(width) : `${'-'.repeat(width - 1)}:`));
  return [pad(heads), rule, ...rows.map(pad)].map((cells) => `| ${cells.join(' | ')} |\n`).join('');
}
