/** The hosts that a run can do without (--require), and what their failures mean for its end. Pure. */
import type { Plan } from '../model/plan.ts';
import type { Settings } from '../model/settings.ts';
import { leastOf } from '../plan/absent-parts.ts';
import type { Losses } from './losses.ts';
import type { RunState } from './state.ts';

/** The state without the failures of hosts that were lost. */
export function withoutLosses(state: RunState, { failures }: Pick<Losses, 'failures'>): RunState {
  return { ...state, failures: state.failures.filter((failure) => !failures.has(failure)) };
}

/** The final state: where enough hosts are left, what befell the others is no failure of the run. */
export function withLosses(
  state: RunState,
  losses: Pick<Losses, 'failures' | 'hasFailed'>,
  plan: Plan,
  { require }: Pick<Settings, 'require'>,
): RunState {
  if (losses.failures.size === 0 || !isEnough(plan, losses, require)) return state;
  return { ...withoutLosses(state, losses), losses: [...losses.failures] };
}

/** Each stage on several hosts has enough of them. */
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
