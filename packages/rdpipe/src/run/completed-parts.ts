/** The parts of a failed run that are complete at their receiver. Pure. */
import { positionOf, type Stage } from '../model/pipeline.ts';
import { shorten } from '../model/text.ts';
import { stageOutcome } from './outcomes.ts';
import type { LinkState, RunState, StageState } from './state.ts';

/**
 * The parts of a failed run that are complete at their receiver, where only the acknowledgement was lost: they need not
 * be sent again. A message for each.
 */
export function completedParts(state: RunState): readonly string[] {
  const unacknowledged = state.links.values().filter(isUnacknowledged);
  if (unacknowledged.length === 0) return [];
  const readers = new Map(state.stages.values().map((stage) => [stage.planned.in, stage]));
  return unacknowledged.flatMap((link) => completedPart(state, link, readers.get(link.link.number)));
}

/** The receiver has everything, and its sender does not know. */
function isUnacknowledged({ ends: { send, recv } }: LinkState): boolean {
  return recv.ended?.result === 'delivered' && send.ended?.result !== 'delivered';
}

function completedPart(
  state: RunState,
  { link, from, to }: LinkState,
  reader: StageState | undefined,
): readonly string[] {
  const stage = link.sink === 'stage' ? reader : undefined;
  if (stage === undefined || stageOutcome(state, stage) !== 'succeeded') return [];
  const what = completeThing(stage.planned.stage);
  return what === undefined ? [] : [`${to}: ${what}, but the final acknowledgement did not reach ${from}`];
}

/** Of a copy its last program alone makes anything complete. */
function completeThing(stage: Stage): string | undefined {
  if (stage.kind === 'tree') return stage.settings.role === 'write' ? 'the copy is complete' : undefined;
  const what = stage.kind === 'sink' ? 'file is complete' : 'command succeeded';
  return `${what} (stage ${positionOf(stage)}: ${shorten(stage.text, TEXT_MAX)})`;
}

const TEXT_MAX = 60;
