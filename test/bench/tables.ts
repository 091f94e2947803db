// SPDX-License-Identifier: Apache-2.0
// The results as tables of Markdown: medians with the least and the most, and ratios.
import type { Case, Goal } from './case.ts';
import { type Figure, ratios, spreadOf } from './figures.ts';
import type { Results } from './rounds.ts';

export interface Table {
  readonly title: string;
  readonly cases: readonly Case[];
  readonly columns: readonly Column[];
}

/** A figure, or its ratio to that of the case `base` in the same round. */
export interface Column {
  readonly title: string;
  readonly figure: Figure;
  readonly digits: number;
  readonly base?: string;
  /** Without the least and the most. */
  readonly brief?: true;
}

export function markdownOf(table: Table, results: Results): string {
  const { title, cases, columns } = table;
  const hasGoals = cases.some(({ goal }) => goal !== undefined);
  const heads = ['', ...columns.map((column) => column.title), ...(hasGoals ? ['goal'] : [])];
  const rows = cases.map((one) => [
    one.name,
    ...columns.map((column) => cell(table, one, column, results)),
    ...(hasGoals ? [goalCell(table, one, results)] : []),
  ]);
  const rule = heads.map((_, index) => (index === 0 ? '---' : '---:'));
  return [`### ${title}`, '', ...[heads, rule, ...rows].map((cells) => `| ${cells.join(' | ')} |`), ''].join('\n');
}

function cell(table: Table, one: Case, { figure, digits, base, brief }: Column, results: Results): string {
  if (one.name === base) return '1';
  const numbers = base === undefined ? series(results, one, figure) : ratiosTo(table, base, one, figure, results);
  if (numbers.length === 0) return '';
  const { median, least, most } = spreadOf(numbers);
  if (brief) return median.toFixed(digits);
  return `${median.toFixed(digits)} (${least.toFixed(digits)}–${most.toFixed(digits)})`;
}

function goalCell(table: Table, one: Case, results: Results): string {
  const { goal } = one;
  if (goal === undefined) return '';
  const words = `${goal.bound} ${goal.ratio} of ${goal.base}`;
  const measured = ratiosTo(table, goal.base, one, goal.figure, results);
  if (measured.length === 0) return words;
  return isReached(goal, spreadOf(measured).median) ? `${words}: reached` : `${words}: **missed**`;
}

function isReached({ bound, ratio }: Goal, median: number): boolean {
  return bound === 'at least' ? median >= ratio : median <= ratio;
}

function ratiosTo({ cases }: Table, base: string, one: Case, figure: Figure, results: Results): number[] {
  const other = cases.find(({ name }) => name === base);
  if (other === undefined) throw new Error(`no case ${base} beside ${one.name}`);
  return ratios(series(results, one, figure), series(results, other, figure));
}

/** Empty where the case has no such figure. */
function series(results: Results, one: Case, figure: Figure): number[] {
  return (results.get(one) ?? []).flatMap((figures) => figures[figure] ?? []);
}
