/** The hosts that a run can do without (--require), and what their failures mean for its result. Pure. */
import type { Plan } from '../model/plan.ts';
import type { Settings } from '../model/settings.ts';
import { leastOf } from '../plan/absent-parts.ts';
import type { Losses } from './losses.ts';
import type { RunState } from './state.ts';

/** Returns the state without the failures of lost hosts. */
export function withoutLosses(state: RunState, { failures }: Pick<Losses, 'failures'>): RunState {
  return { ...state, failures: state.failures.filter((failure) => !failures.has(failure)) };
}

/** Returns the final state: if enough hosts are left, the failures of the others are not failures of the run. */
export function withLosses(
  state: RunState,
  losses: Pick<Losses, 'failures' | 'hasFailed'>,
  plan: Plan,
  { require }: Pick<Settings, 'require'>,
): RunState {
  if (losses.failures.size === 0 || !isEnough(plan, losses, require)) return state;
  return { ...withoutLosses(state, losses), losses: [...losses.failures] };
}

/** True if enough hosts are left for each stage on several hosts. */
function isEnough({ segments }: Plan, { hasFailed }: Pick<Losses, 'hasFailed'>, require: Settings['require']): boolean {
  const left = new Map<number, number>();
  const widths = new Map<number, number>();
  for (const { stage, session } of segments.flatMap(({ stages }) => stages)) {
    if (stage.part === undefined) continue;
    const { position, width } = stage.part;
    widths.set(position, width);
    left.set(position, (left.get(position) ?? 0) + (hasFailed(session) ? 0 : 1));
  }
  return [...left].every(([position, count]) => {
    const width = widths.get(position) ?? count;
    return count >= leastOf(require, width);
  });
}
