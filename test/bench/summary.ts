// SPDX-License-Identifier: Apache-2.0
// The results of the rounds on one ground: as Markdown, and as an object for JSON.
import type { Case, Goal } from './case.ts';
import { type Figure, type Figures, spreadOf } from './figures.ts';
import type { Outcome, Results } from './rounds.ts';
import { goalsOf, markdownOf, type Table } from './tables.ts';

export interface Summary {
  readonly ground: 'loopback' | 'lab';
  /** The amount that a run moved. */
  readonly mib: number;
  readonly rounds: number;
  readonly seed: number;
  /** The load average of the minute before the rounds. */
  readonly load: number;
  readonly tables: readonly Table[];
  readonly outcome: Outcome;
  readonly plots: () => readonly Plot[];
}

export interface Plot {
  readonly file: string;
  readonly about: string;
  readonly svg: string;
}

/** The tables of a ground, whose cases are measured, and a function that draws its plots. */
export interface Program {
  readonly tables: readonly Table[];
  readonly plots: (results: Results) => readonly Plot[];
}

export function markdownOfAll(summary: Summary): string {
  const { tables, outcome } = summary;
  const parts = [
    aboutRounds(summary),
    goalsOf(outcome.results),
    ...tables.map((table) => markdownOf(table, outcome.results)),
  ];
  return parts.filter((part) => part !== '').join('\n');
}

export function objectOf({ outcome, tables, plots: _, ...summary }: Summary): object {
  return {
    ...summary,
    ...(outcome.failure && { failure: outcome.failure.message }),
    repeated: outcome.repeated,
    tables: tables.map(({ title, cases }) => ({ title, cases: cases.map((one) => caseObject(one, outcome)) })),
  };
}

function aboutRounds({ rounds, load, seed, outcome: { failure, repeated, results } }: Summary): string {
  const ended = failure === undefined ? '' : ' were to be, and ended early';
  const shares = [...results.values()].flat().flatMap(({ others }) => others ?? []);
  const { median, most } = spreadOf(shares);
  const percent = (share: number) => `${Math.round(share * 100)} %`;
  const noise =
    shares.length === 0
      ? ''
      : `;\nothers took ${percent(median)} (median) to ${percent(most)} of the processors during a run`;
  const again =
    repeated.length === 0
      ? ''
      : `;\n${repeated.length} of the runs failed and were repeated in hosts that were started again`;
  return `${rounds} ${rounds === 1 ? 'round' : 'rounds'}${ended}; load average ${load.toFixed(2)} before them, with nothing of this in it${noise}${again}; seed ${seed}.\n`;
}

function caseObject(one: Case, { results }: Outcome): object {
  const runs = results.get(one) ?? [];
  return { name: one.name, median: medians(runs), runs, ...(one.goals && { goals: one.goals.map(goalObject) }) };
}

function medians(runs: readonly Figures[]): Figures {
  const names = Object.keys(runs[0] ?? {}) as Figure[];
  return Object.fromEntries(names.map((name) => [name, spreadOf(runs.flatMap((run) => run[name] ?? [])).median]));
}

function goalObject({ base, ...goal }: Goal): object {
  return { ...goal, ...(base && { base: base.name }) };
}
