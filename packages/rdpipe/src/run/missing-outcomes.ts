/** Finds stages and links of a successful segment whose outcome no host reported. Pure. */
import { SessionError } from '../model/errors.ts';
import { okStatuses } from '../model/pipeline.ts';
import type { PlannedLink, Segment } from '../model/plan.ts';
import type { HopEnd } from '../model/protocol.ts';
import type { LinkState, RunState } from './state.ts';

/**
 * Why a segment that every host ended without a failure cannot be trusted: success needs a report on each stage and on
 * both ends of each link, without contradiction. Undefined: it can be trusted.
 */
export function missingOutcome(state: RunState, { stages, links }: Segment): SessionError | undefined {
  if (state.failures.length > 0) return undefined;
  for (const { stage } of stages) {
    const complaint = okStatuses(stage) === undefined ? undefined : stageWithoutOutcome(state, stage.number);
    if (complaint !== undefined) return complaint;
  }
  return links.map((link) => linkWithoutOutcome(state, link)).find((complaint) => complaint !== undefined);
}

function stageWithoutOutcome(state: RunState, number: number): SessionError | undefined {
  const stage = state.stages.get(number);
  if (stage === undefined) return undefined;
  if (stage.exit === undefined) return untrusted(stage.host, `did not report how stage ${number} ended`);
  return stage.exit.stopped ? untrusted(stage.host, `stopped stage ${number} without reporting a reason`) : undefined;
}

function linkWithoutOutcome(state: RunState, { number }: PlannedLink): SessionError | undefined {
  const link = state.links.get(number);
  if (link === undefined) return undefined;
  const { from, to, ends } = link;
  for (const [end, host] of [
    ['send', from],
    ['recv', to],
  ] as const) {
    if (ends[end].ended === undefined) return untrusted(host, `did not report how ${nameOfEnd(link, end)} ended`);
  }
  return countsDiffer(link) ? untrusted(to, `and ${from} reported different byte counts`) : undefined;
}

/** Both called every byte delivered. */
function countsDiffer({ ends: { send, recv } }: LinkState): boolean {
  const isDelivered = send.ended?.result === 'delivered' && recv.ended?.result === 'delivered';
  return isDelivered && send.ended.bytes !== recv.ended.bytes;
}

function nameOfEnd({ from, to }: LinkState, end: HopEnd): string {
  if (from === to) return `its ${end === 'send' ? 'rdsend' : 'rdrecv'}`;
  return end === 'send' ? `its data to ${to}` : `its data from ${from}`;
}

function untrusted(host: string, reason: string): SessionError {
  return new SessionError('agent_protocol', host, `cannot trust the agent of ${host}: it ${reason}`);
}
