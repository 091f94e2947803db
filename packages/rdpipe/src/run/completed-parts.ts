/** The parts of a failed run that are complete at their receiver. Pure. */
import { positionOf, type Stage } from '../model/pipeline.ts';
import { shorten } from '../model/text.ts';
import { stageOutcome } from './outcomes.ts';
import type { LinkState, RunState, StageState } from './state.ts';

/**
 * Returns a message for each part of a failed run that is complete at its receiver, if only the acknowledgement was
 * lost: these parts need not be sent again.
 */
export function completedParts(state: RunState): readonly string[] {
  const unacknowledged = state.links.values().filter(isUnacknowledged);
  if (unacknowledged.length === 0) return [];
  const readers = new Map(state.stages.values().map((stage) => [stage.planned.in, stage]));
  return unacknowledged.flatMap((link) => completedPart(state, link, readers.get(link.link.number)));
}

/** True if the receiver has all data, but the sender does not know. */
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

/** In a copy, only the last program completes anything. */
function completeThing(stage: Stage): string | undefined {
  if (stage.kind === 'tree') return stage.settings.role === 'write' ? 'the copy is complete' : undefined;
  const what = stage.kind === 'sink' ? 'file is complete' : 'command succeeded';
  return `${what} (stage ${positionOf(stage)}: ${shorten(stage.text, TEXT_MAX)})`;
}

const TEXT_MAX = 60;
