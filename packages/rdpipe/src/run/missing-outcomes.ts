/** Finds stages and links of a successful segment whose outcome no host reported. Pure. */
import { SessionError } from '../model/errors.ts';
import { okStatuses } from '../model/pipeline.ts';
import type { PlannedLink, Segment, SessionId } from '../model/plan.ts';
import type { HopEnd } from '../model/protocol.ts';
import type { LinkState, RunState } from './state.ts';

/**
 * Returns why a segment cannot be trusted although every host ended it without a failure; undefined if it can be
 * trusted. Success requires a report on each stage and on both ends of each link, without contradictions.
 */
export function missingOutcome(
  state: RunState,
  { stages, links }: Segment,
  isLost: (session: SessionId) => boolean = () => false,
): SessionError | undefined {
  if (state.failures.length > 0) return undefined;
  for (const { stage, session } of stages) {
    if (isLost(session)) continue;
    const complaint = okStatuses(stage) === undefined ? undefined : stageWithoutOutcome(state, stage.number);
    if (complaint !== undefined) return complaint;
  }
  const complaints = links.map((link) => linkWithoutOutcome(state, link, isLost));
  return complaints.find((complaint) => complaint !== undefined);
}

function stageWithoutOutcome(state: RunState, number: number): SessionError | undefined {
  const stage = state.stages.get(number);
  if (stage === undefined) return undefined;
  if (stage.exit === undefined) return untrusted(stage.host, `did not report how stage ${number} ended`);
  return stage.exit.stopped ? untrusted(stage.host, `stopped stage ${number} without reporting a reason`) : undefined;
}

/** An end on a lost host has no outcome; the neighbour's end has one, from another hop. */
function linkWithoutOutcome(
  state: RunState,
  planned: PlannedLink,
  isLost: (session: SessionId) => boolean,
): SessionError | undefined {
  const link = state.links.get(planned.number);
  if (link === undefined) return undefined;
  const { from, to, ends } = link;
  const sessions = planned.kind === 'hop' ? planned : { from: planned.session, to: planned.session };
  for (const [end, host, session] of [
    ['send', from, sessions.from],
    ['recv', to, sessions.to],
  ] as const) {
    if (!isLost(session) && ends[end].ended === undefined)
      return untrusted(host, `did not report how ${nameOfEnd(link, end)} ended`);
  }
  return countsDiffer(link) ? untrusted(to, `and ${from} reported different byte counts`) : undefined;
}

/** True if both ends reported that all data was delivered, but their byte counts differ. */
function countsDiffer({ ends: { send, recv } }: LinkState): boolean {
  const isDelivered = send.ended?.result === 'delivered' && recv.ended?.result === 'delivered';
  return isDelivered && send.ended.bytes !== recv.ended.bytes;
}

function nameOfEnd({ from, to }: LinkState, end: HopEnd): string {
  if (from === to) return `its ${end === 'send' ? 'rdsend' : 'rdrecv'}`;
  return end === 'send' ? `its data to ${to}` : `its data from ${from}`;
}

function untrusted(host: string, reason: string): SessionError {
  return new SessionError('agent_protocol', host, `cannot trust the agent on ${host}: it ${reason}`);
}
