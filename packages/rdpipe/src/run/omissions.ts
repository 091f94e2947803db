/** Finds what the source's host left out of a copy without telling the user. Pure. */
import { copyStages, MAY_BE_TAMPERED } from './copy-stages.ts';
import type { RunState, StageState } from './state.ts';

export interface Omission {
  /** The stage of the source's host that sent too little, or too much. */
  readonly stage: number;
  readonly message: string;
}

/** The first one; undefined: each target got what it asked for, or the user knows why not. */
export function findOmission(state: RunState): Omission | undefined {
  const compares = copyStages(state, 'compare');
  return unreported(state, compares) ?? unsent(state, compares);
}

/** Of what scan should offer: it told compare of failures or special files, but not the user. */
function unreported(state: RunState, compares: readonly StageState[]): Omission | undefined {
  const [scan] = copyStages(state, 'scan');
  if (scan === undefined || !compares.some((compare) => isSilent(scan, compare))) return undefined;
  return omission(scan, `${scan.host} left out a part of the source, and gave no reason`);
}

function isSilent({ program: scan }: StageState, { program: { decisions } }: StageState): boolean {
  if (decisions === undefined) return false;
  return decisions.dropped > scan.failed || (decisions.skipped > 0 && scan.warnings.length === 0);
}

/** Of what read should send. */
function unsent(state: RunState, compares: readonly StageState[]): Omission | undefined {
  const [read] = copyStages(state, 'read');
  if (read === undefined) return undefined;
  const target = copyStages(state, 'write').find((write) => {
    const compare = compares.find((one) => rankOf(one) === rankOf(write));
    return compare !== undefined && isCheated(compare, read, write);
  });
  if (target === undefined) return undefined;
  return omission(read, `${read.host} did not send exactly what ${target.host} asked for, and gave no reason`);
}

/** Every file that read drops is a path that it reports as failed. */
function isCheated(compare: StageState, read: StageState, write: StageState): boolean {
  const asked = compare.program.decisions;
  const got = write.program.decisions;
  if (asked === undefined || got === undefined) return false;
  return asked.digest !== got.digest || got.dropped > read.program.failed;
}

function omission({ planned: { stage } }: StageState, reason: string): Omission {
  return { stage: stage.number, message: `${reason}; ${MAY_BE_TAMPERED}` };
}

function rankOf({ planned }: StageState): number | undefined {
  return planned.stage.part?.rank;
}
