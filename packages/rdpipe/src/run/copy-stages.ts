/** Finds the stages of a copy by the roles of their programs. Pure. */
import type { TreeRole } from '../model/tree.ts';
import type { RunState, StageState } from './state.ts';

/** Returns the stages whose program has one of the roles, in the order of the plan. */
export function copyStages(state: RunState, ...roles: readonly TreeRole[]): readonly StageState[] {
  return state.stages
    .values()
    .filter(({ planned: { stage } }) => stage.kind === 'tree' && roles.includes(stage.settings.role));
}

/** The advice about a host whose programs broke the rules of a copy. */
export const MAY_BE_TAMPERED = 'its copy of rdpipe may have been tampered with';
