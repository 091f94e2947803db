/** The events of one copy program so far: its totals, its failures, its end. Pure. */
import type { TreeEvent } from '../model/tree.ts';

type Of<Name extends TreeEvent['event']> = Extract<TreeEvent, { event: Name }>;
export type SlowPaths = Readonly<Record<Of<'slowest'>['of'], Of<'slowest'>['paths']>>;

/** The events of one program so far. */
export interface ProgramState {
  /** From the last `progress` event. */
  readonly totals: Of<'progress'> | undefined;
  /** Number of paths that the program reported as failed, and the first of these paths. */
  readonly failed: number;
  readonly failures: readonly Of<'failed'>[];
  readonly warnings: readonly string[];
  /** The parts of files that remain for the next copy, because this one was interrupted. */
  readonly kept: readonly Of<'kept'>[];
  readonly slowest: SlowPaths;
  /** Of compare and write, at their end. */
  readonly decisions: Of<'decisions'> | undefined;
  /** Why the program ended. */
  readonly fatal: Of<'fatal'> | undefined;
}

/** Limit of the events that are kept: a million paths may fail. */
export const KEPT_MAX = 100;

export const NO_EVENTS: ProgramState = {
  totals: undefined,
  failed: 0,
  failures: [],
  warnings: [],
  kept: [],
  slowest: { files: [], directories: [] },
  decisions: undefined,
  fatal: undefined,
};

/** Returns the state of a program after an event from it. */
export function afterTreeEvent(before: ProgramState, event: TreeEvent): ProgramState {
  switch (event.event) {
    case 'progress':
      return { ...before, totals: event };
    case 'failed':
      return { ...before, failed: before.failed + 1, failures: kept(before.failures, event) };
    case 'warning':
      return { ...before, warnings: kept(before.warnings, event.message) };
    case 'kept':
      return { ...before, kept: kept(before.kept, event) };
    case 'slowest':
      return { ...before, slowest: { ...before.slowest, [event.of]: event.paths.slice(0, KEPT_MAX) } };
    case 'decisions':
      return { ...before, decisions: event };
    case 'fatal':
      return { ...before, fatal: before.fatal ?? event };
    case 'path':
      return before;
  }
}

function kept<Item>(items: readonly Item[], item: Item): readonly Item[] {
  return items.length < KEPT_MAX ? [...items, item] : items;
}
