/** The events of one program of a copy so far: its sums, its failures, its end. Pure. */
import type { TreeEvent } from '../model/tree.ts';

type Of<Name extends TreeEvent['event']> = Extract<TreeEvent, { event: Name }>;
export type SlowPaths = Readonly<Record<Of<'slowest'>['of'], Of<'slowest'>['paths']>>;

/** The events of one program so far. */
export interface ProgramState {
  /** The last ones. */
  readonly totals: Of<'progress'> | undefined;
  /** Paths that it reported as failed, and the first of them. */
  readonly failed: number;
  readonly failures: readonly Of<'failed'>[];
  readonly warnings: readonly string[];
  readonly slowest: SlowPaths;
  /** Why it ended. */
  readonly fatal: Of<'fatal'> | undefined;
}

/** A million paths may fail: so many are kept. */
export const KEPT_MAX = 100;

export const NO_EVENTS: ProgramState = {
  totals: undefined,
  failed: 0,
  failures: [],
  warnings: [],
  slowest: { files: [], directories: [] },
  fatal: undefined,
};

/** The state of a program after one event of it. */
export function afterTreeEvent(before: ProgramState, event: TreeEvent): ProgramState {
  switch (event.event) {
    case 'progress':
      return { ...before, totals: event };
    case 'failed':
      return { ...before, failed: before.failed + 1, failures: kept(before.failures, event) };
    case 'warning':
      return { ...before, warnings: kept(before.warnings, event.message) };
    case 'slowest':
      return { ...before, slowest: { ...before.slowest, [event.of]: event.paths.slice(0, KEPT_MAX) } };
    case 'fatal':
      return { ...before, fatal: before.fatal ?? event };
    case 'path':
      return before;
  }
}

function kept<Item>(items: readonly Item[], item: Item): readonly Item[] {
  return items.length < KEPT_MAX ? [...items, item] : items;
}
