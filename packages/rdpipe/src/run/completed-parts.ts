/** The parts of a failed run that are complete at their receiver. Pure. */
import type { Stage } from '../model/pipeline.ts';
import { shorten } from '../model/text.ts';
import { stageOutcome } from './outcomes.ts';
import type { LinkState, RunState } from './state.ts';

/**
 * The parts of a failed run that are complete at their receiver, where only the acknowledgement was lost: they need not
 * be sent again. A message for each.
 */
export function completedParts(state: RunState): readonly string[] {
  return [...state.links.values()].filter(isUnacknowledged).flatMap((link) => completedPart(state, link));
}

/** The receiver has everything, and its sender does not know. */
function isUnacknowledged({ ends: { send, recv } }: LinkState): boolean {
  return recv.ended?.result === 'delivered' && send.ended?.result !== 'delivered';
}

function completedPart(state: RunState, { link, from, to }: LinkState): readonly string[] {
  const stage = link.sink === 'stage' ? state.stages.get(link.number + 1) : undefined;
  if (stage === undefined || stageOutcome(state, stage) !== 'succeeded') return [];
  const what = completeThing(stage.planned.stage);
  return what === undefined ? [] : [`${to}: ${what}, but the final acknowledgement did not reach ${from}`];
}

/** Of a copy its last program alone makes anything complete. */
function completeThing(stage: Stage): string | undefined {
  if (stage.kind === 'tree') return stage.settings.role === 'write' ? 'the copy is complete' : undefined;
  const what = stage.kind === 'sink' ? 'file is complete' : 'command succeeded';
  return `${what} (stage ${stage.number}: ${shorten(stage.text, TEXT_MAX)})`;
}

const TEXT_MAX = 60;
