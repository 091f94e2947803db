/** The TCP candidates of a hop: which end dials which address. */
import type { Candidate } from '../model/plan.ts';
import {
  type AddressPair,
  commonSubnets,
  entryOf,
  firstOfEach,
  type HopEndAddresses,
  onOneMachine,
} from './addresses.ts';
import { LOCAL } from './facts.ts';

/** Limited, because a common subnet may still be two networks with the same number. */
const SUBNETS_MAX = 2;

/** The beginning of a relay's reason, and so of the note about the hop. */
export const RELAYED = 'relayed over ssh through this machine';

export interface TcpRoute {
  readonly candidates: readonly Candidate[];
  readonly bind: { readonly sender: string | null; readonly receiver: string | null };
}

/**
 * Returns the candidates in order. First the sender dials: over the fastest common subnets, then at the address that
 * ssh used. Then the receiver dials, for firewalls that permit only one direction. Last comes a forward through ssh if
 * one end is this machine, otherwise, with `mayRelay`, two forwards that meet here.
 */
export function tcpRoute(from: HopEndAddresses, to: HopEndAddresses, mayRelay: boolean): TcpRoute {
  const subnets = fastestSubnets(from, to);
  const known = sshSpeed(from, to);
  const faster = subnets.filter((pair) => (speedOf(pair) ?? 0) > known);
  const receiver = dialTargetsOf(to, from, to.ssh === undefined ? subnets : faster, 'to');
  const sender = dialTargetsOf(from, to, from.ssh === undefined ? subnets.slice(0, 1) : [], 'from');
  const bind = { sender: bindOf(sender, from, to), receiver: bindOf(receiver, to, from) };
  return {
    candidates: [
      ...receiver.map((target) => withOthers(candidate('sender', 'address', target.host, target.why), target)),
      ...sender.map((target) =>
        withOthers(candidate('receiver', 'address', target.host, `${target.why}, receiver dials`), target),
      ),
      ...forwardThroughSsh(from, to, bind),
      ...(mayRelay ? relayThroughSsh(from, to, bind) : []),
    ],
    bind,
  };
}

/** An address at which an end can be dialed. */
interface DialTarget {
  readonly host: string;
  /** The address on which the end listens for this; null for all addresses. */
  readonly bind: string | null;
  readonly why: string;
  /** Further addresses to use at the same time. */
  readonly others?: readonly string[];
}

/** Best first, one per interface of the receiver. */
function fastestSubnets(from: HopEndAddresses, to: HopEndAddresses): readonly AddressPair[] {
  const sorted = [...commonSubnets(from, to)].sort((a, b) => (speedOf(b) ?? 0) - (speedOf(a) ?? 0));
  return firstOfEach(sorted, (pair) => pair.to.interface).slice(0, SUBNETS_MAX);
}

function speedOf({ from, to }: AddressPair): number | undefined {
  if (from.speed_mbps === null || to.speed_mbps === null) return undefined;
  return Math.min(from.speed_mbps, to.speed_mbps);
}

/**
 * Returns the speed of the route that ssh took. If it is unknown, the route is not skipped, because it is known to
 * work.
 */
function sshSpeed(from: HopEndAddresses, to: HopEndAddresses): number {
  const speeds = [from, to].map(({ facts, ssh }) => (ssh === undefined ? null : entryOf(facts, ssh)?.speed_mbps));
  return Math.min(...speeds.map((mbps) => mbps ?? Infinity));
}

/** Best first; empty if no address is known that could work. */
function dialTargetsOf(
  { facts, given, ssh }: HopEndAddresses,
  peer: HopEndAddresses,
  subnets: readonly AddressPair[],
  side: keyof AddressPair,
): readonly DialTarget[] {
  if (given !== undefined) {
    const { address, others, why } = given;
    if (others.length > 0) return [{ host: address, bind: null, why, others }];
    return [{ host: address, bind: entryOf(facts, address) === undefined ? null : address, why }];
  }
  if (onOneMachine(facts, peer.facts)) return [own('127.0.0.1', 'same machine')];
  const others = subnets.map((pair) => pair[side].address).filter((address) => address !== ssh);
  const spots = others.map((address) => own(address, 'common subnet'));
  return ssh === undefined ? spots : [...spots, own(ssh, 'ssh address')];
}

function own(address: string, why: string): DialTarget {
  return { host: address, bind: address, why };
}

/**
 * An end that cannot be dialed is reached only through a forward, which connects from the end's own loopback address.
 */
function bindOf(
  [spot, ...others]: readonly DialTarget[],
  { facts }: HopEndAddresses,
  peer: HopEndAddresses,
): string | null {
  if (spot !== undefined) return others.length === 0 ? spot.bind : null;
  return facts.id !== LOCAL && peer.facts.id === LOCAL ? '127.0.0.1' : null;
}

/** The local end dials through the ssh connection of the other end, which listens. */
function forwardThroughSsh(from: HopEndAddresses, to: HopEndAddresses, bind: TcpRoute['bind']): readonly Candidate[] {
  if (from.facts.id !== LOCAL && to.facts.id !== LOCAL) return [];
  const [dialer, listening, far] =
    from.facts.id === LOCAL ? (['sender', bind.receiver, to] as const) : (['receiver', bind.sender, from] as const);
  if (!far.facts.forwards) return [];
  return [candidate(dialer, 'forward', listening ?? '127.0.0.1', 'forwarded through ssh')];
}

/** Either end may dial: the ssh servers may permit only one of the two forwards. */
function relayThroughSsh(from: HopEndAddresses, to: HopEndAddresses, bind: TcpRoute['bind']): readonly Candidate[] {
  const isOfThisMachine = from.facts.id === LOCAL || to.facts.id === LOCAL;
  if (isOfThisMachine || onOneMachine(from.facts, to.facts)) return [];
  if (!from.facts.forwards || !to.facts.forwards) return [];
  return [
    candidate('sender', 'relay', bind.receiver ?? '127.0.0.1', RELAYED),
    candidate('receiver', 'relay', bind.sender ?? '127.0.0.1', `${RELAYED}, receiver dials`),
  ];
}

function candidate(dialer: Candidate['dialer'], way: Candidate['way'], host: string, why: string): Candidate {
  return { transport: 'tcp', dialer, way, host, from: null, device: null, why };
}

function withOthers(one: Candidate, { others = [] }: DialTarget): Candidate {
  return others.length === 0 ? one : { ...one, others: others.map((host) => ({ host, from: null })) };
}
