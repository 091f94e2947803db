/** Finds targets of a copy that did not get what they asked for, with no report of it. Pure. */
import { copyStages, MAY_BE_TAMPERED } from './copy-stages.ts';
import type { RunState, StageState } from './state.ts';

export interface Omission {
  /** The stage of the source's host that sent too little, or too much. */
  readonly stage: number;
  readonly message: string;
}

/** The first one; undefined: each target got what it asked for, or knows why not. */
export function findOmission(state: RunState): Omission | undefined {
  const [read] = copyStages(state, 'read');
  if (read === undefined) return undefined;
  const compares = copyStages(state, 'compare');
  const target = copyStages(state, 'write').find((write) => {
    const compare = compares.find((one) => rankOf(one) === rankOf(write));
    return compare !== undefined && isCheated(compare, read, write);
  });
  if (target === undefined) return undefined;
  const message = `${read.host} did not send exactly what ${target.host} asked for, and gave no reason; ${MAY_BE_TAMPERED}`;
  return { stage: read.planned.stage.number, message };
}

/** Every file that read drops is a path that it reports as failed. */
function isCheated(compare: StageState, read: StageState, write: StageState): boolean {
  const asked = compare.program.decisions;
  const got = write.program.decisions;
  if (asked === undefined || got === undefined) return false;
  return asked.digest !== got.digest || got.dropped > read.program.failed;
}

function rankOf({ planned }: StageState): number | undefined {
  return planned.stage.part?.rank;
}
