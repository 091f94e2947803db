import type { HopReport } from '../model/report.ts';
import type { LinkEnded, LinkState } from './state.ts';

/** How a link ended. The receiver knows what arrived; the sender's word counts where the receiver's is missing or it failed first. */
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
 * True when the end of one of a link's ends is a failure of the run. A sender that lost its peer after the consumer had
 * closed has only missed that word: nobody wanted more of it.
 */
export function isFailure({ ends }: LinkState, ended: LinkEnded | undefined): boolean {
  if (ended === undefined || ended.result === 'delivered' || ended.result === 'closed') return false;
  const hasLostPeer = ended.code === 'peer_lost' || ended.code === 'peer_stalled';
  return !(hasLostPeer && ended.end === 'send' && ends.recv.ended?.result === 'closed');
}
