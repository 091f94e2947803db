/** The outcome of each stage and each link of a run, from the events of all hosts. Pure. */
import { exitOutcome, okStatuses } from '../model/pipeline.ts';
import type { HopReport, StageReport } from '../model/report.ts';
import type { LinkEnded, LinkState, RunState, StageState } from './state.ts';

/** Returns the outcome of a stage, from all events about it. */
export function stageOutcome(state: RunState, stage: StageState): StageReport['state'] {
  if (stage.isRefused) return 'failed';
  const ok = okStatuses(stage.planned.stage);
  return ok === undefined ? fileOutcome(state, stage) : processOutcome(stage, ok);
}

function processOutcome({ started, exit }: StageState, ok: readonly number[]): StageReport['state'] {
  if (exit === undefined) return started ? 'stopped' : 'not_started';
  return exitOutcome({ ...exit, consumerClosed: exit.consumer_closed }, ok);
}

/** A source or sink has no process of its own: the end of its link determines the outcome. */
function fileOutcome(state: RunState, { planned }: StageState): StageReport['state'] {
  const isSource = planned.stage.kind === 'source';
  const link = state.links.get((isSource ? planned.out : planned.in) ?? -1);
  const ended = link?.ends[isSource ? 'send' : 'recv'].ended;
  return ended === undefined ? unfinished(link) : fileResult(ended);
}

function unfinished(link: LinkState | undefined): StageReport['state'] {
  return link?.connectedAtMs === undefined ? 'not_started' : 'stopped';
}

function fileResult({ result, code }: LinkEnded): StageReport['state'] {
  if (result === 'delivered') return 'succeeded';
  if (result === 'closed') return 'consumer_closed';
  return code === 'source_unreadable' || code === 'sink_unwritable' ? 'failed' : 'stopped';
}

/**
 * Returns the outcome of a link. The receiver knows what arrived; the sender's result counts if the receiver has none,
 * or if the sender failed first.
 */
export function linkOutcome(link: LinkState): HopReport['result'] {
  const { connectedAtMs, ends } = link;
  if (ends.recv.ended?.result === 'closed' && !isFailure(link, ends.send.ended)) return 'closed';
  const results = [ends.recv.ended?.result, ends.send.ended?.result];
  if (results.includes('failed')) return 'failed';
  if (results.includes('aborted')) return 'aborted';
  const result = results[0] ?? results[1];
  return result ?? (connectedAtMs === undefined ? 'not_connected' : 'aborted');
}

/**
 * True if the end of one side of a link is a failure of the run. A sender that lost its peer after the consumer had
 * closed has only missed CLOSED: no more data was wanted.
 */
export function isFailure({ ends }: LinkState, ended: LinkEnded | undefined): boolean {
  if (ended === undefined || ended.result === 'delivered' || ended.result === 'closed') return false;
  const hasLostPeer = ended.code === 'peer_lost' || ended.code === 'peer_stalled';
  const hadClosed = ends.recv.hasClosed || ends.recv.ended?.result === 'closed';
  return !(hasLostPeer && ended.end === 'send' && hadClosed);
}
