/** The route of a hop: transport, candidates, the end that dials, encryption, and the reason for each. */
import type { Candidate, HopLink } from '../model/plan.ts';
import type { HopPlan } from '../model/protocol.ts';
import { type HopEndAddresses, onOneMachine, placeOf } from './addresses.ts';
import type { PlanInput, SessionFacts } from './facts.ts';
import { rdmaCandidates, rdmaLacks } from './rdma-route.ts';
import { tcpRoute } from './tcp-route.ts';

export type Route = Pick<HopLink, 'transport' | 'candidates' | 'bind' | 'why'> & Pick<HopPlan, 'encrypt'>;

/**
 * Returns the route from `from`, which sends, to `to`, which receives. Candidates are in order, best first; there may
 * be none.
 */
export function routeHop(from: SessionFacts, to: SessionFacts, input: PlanInput): Route {
  const [sender, receiver] = [placeOf(from, to, input), placeOf(to, from, input)];
  const wanted = input.settings.transport;
  const rdma = wanted === 'tcp' ? [] : rdmaCandidates(sender, receiver);
  const tcp = tcpRoute(sender, receiver, input.settings.relay === 'auto');
  const candidates = [...rdma, ...(wanted === 'rdma' ? [] : tcp.candidates)];
  const transport = candidates[0]?.transport ?? 'tcp';
  const { encrypt, words } = encryption(transport, onOneMachine(from, to), input.settings.encrypt);
  return {
    transport,
    candidates,
    bind: { ...tcp.bind, rdma: sharedHost(rdma) },
    encrypt,
    why: `${carrier(rdma[0], sender, receiver, wanted)}, ${words}`,
  };
}

/** Returns why two hosts have no route over RDMA: what is missing at each end, or between them. */
export function missingForRdma(from: SessionFacts, to: SessionFacts, input: PlanInput): readonly string[] {
  return rdmaLacks(placeOf(from, to, input), placeOf(to, from, input));
}

/** Null for several addresses: the listening end then listens on all of its addresses. */
function sharedHost([first, ...others]: readonly Candidate[]): string | null {
  if (first === undefined || first.others !== undefined) return null;
  return others.every(({ host }) => host === first.host) ? first.host : null;
}

/** Returns `rdma mlx5_0 (RoCE v2, 100 Gb/s)` or `tcp (no RDMA device on h3)`. */
function carrier(
  best: Candidate | undefined,
  from: HopEndAddresses,
  to: HopEndAddresses,
  wanted: PlanInput['settings']['transport'],
): string {
  if (best !== undefined) return `rdma ${best.device} (${best.why})`;
  if (wanted === 'tcp') return 'tcp (--transport tcp)';
  if (onOneMachine(from.facts, to.facts)) return 'tcp';
  const lacks = rdmaLacks(from, to).map(withoutAdvice);
  return `tcp (${lacks.join('; ')})`;
}

function withoutAdvice(words: string): string {
  return words.replace(/ \(.*\)$/, '');
}

function encryption(
  transport: HopLink['transport'],
  isNear: boolean,
  mode: PlanInput['settings']['encrypt'],
): { readonly encrypt: HopPlan['encrypt']; readonly words: string } {
  if (mode === 'always') return { encrypt: 'always', words: 'encrypted (--encrypt always)' };
  if (mode === 'auth') return { encrypt: 'auth', words: 'authenticated, not encrypted (--encrypt auth)' };
  if (mode === 'never') return { encrypt: 'never', words: 'not encrypted (--encrypt never)' };
  if (isNear) return { encrypt: 'never', words: 'not encrypted (stays on the machine)' };
  return {
    encrypt: 'tcp',
    words:
      transport === 'rdma' ? 'authenticated, not encrypted (the default of RDMA)' : 'encrypted (leaves the machine)',
  };
}
