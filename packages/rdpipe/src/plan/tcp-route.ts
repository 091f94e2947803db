/** Hops over TCP: who may dial whom, where. */
import type { Candidate } from '../model/plan.ts';
import { type AddressPair, commonSubnets, entryOf, onOneMachine, type Place } from './addresses.ts';
import { LOCAL } from './facts.ts';

export interface TcpRoute {
  readonly candidates: readonly Candidate[];
  readonly bind: { readonly sender: string | null; readonly receiver: string | null };
}

/**
 * The sender dials: by the fastest common subnet, then by the address that ssh used. Then the receiver dials, for
 * firewalls that let connections through one way only. Last a forward through ssh, where one end is this machine.
 */
export function tcpRoute(from: Place, to: Place): TcpRoute {
  const fastest = fastestSubnet(from, to);
  const receiver = spotsOf(to, from, fastest && { address: fastest.to.address, isFaster: isFaster(fastest, from, to) });
  const sender = spotsOf(from, to, fastest && { address: fastest.from.address, isFaster: false });
  const bind = { sender: bindOf(sender, from, to), receiver: bindOf(receiver, to, from) };
  return {
    candidates: [
      ...receiver.map(({ host, why }) => candidate('sender', 'address', host, why)),
      ...sender.map(({ host, why }) => candidate('receiver', 'address', host, `${why}, receiver dials`)),
      ...forwardThroughSsh(from, to, bind),
    ],
    bind,
  };
}

/** Where an end can be dialled. */
interface Spot {
  readonly host: string;
  /** What the end binds when it listens for this; null: every address. */
  readonly bind: string | null;
  readonly why: string;
}

/** An address on a subnet of both ends. */
interface Near {
  readonly address: string;
  /** Than the way that ssh took. */
  readonly isFaster: boolean;
}

function fastestSubnet(from: Place, to: Place): AddressPair | undefined {
  const pairs = [...commonSubnets(from, to)].sort((a, b) => (speedOf(b) ?? 0) - (speedOf(a) ?? 0));
  return pairs[0];
}

function speedOf({ from, to }: AddressPair): number | undefined {
  if (from.speed_mbps === null || to.speed_mbps === null) return undefined;
  return Math.min(from.speed_mbps, to.speed_mbps);
}

/** A speed that is not known is no reason to leave the way that is known to work. */
function isFaster(pair: AddressPair, from: Place, to: Place): boolean {
  const mine = speedOf(pair);
  const known = [from, to].flatMap(({ facts, ssh }) => (ssh === undefined ? [] : [entryOf(facts, ssh)?.speed_mbps]));
  return mine !== undefined && known.some((mbps) => typeof mbps === 'number' && mbps < mine);
}

/** Best first; none when nothing is known that could work. */
function spotsOf({ facts, given, ssh }: Place, peer: Place, near: Near | undefined): readonly Spot[] {
  if (given !== undefined) {
    const { address, why } = given;
    return [{ host: address, bind: entryOf(facts, address) === undefined ? null : address, why }];
  }
  if (onOneMachine(facts, peer.facts)) return [own('127.0.0.1', 'same machine')];
  const subnet = near === undefined ? [] : [own(near.address, 'fastest common subnet')];
  if (ssh === undefined) return subnet;
  const bySsh = own(ssh, 'address of ssh');
  return near?.isFaster && near.address !== ssh ? [...subnet, bySsh] : [bySsh];
}

function own(address: string, why: string): Spot {
  return { host: address, bind: address, why };
}

/** An end that is dialled nowhere can only be reached by a forward, which comes from its own loopback. */
function bindOf([spot, ...others]: readonly Spot[], { facts }: Place, peer: Place): string | null {
  if (spot !== undefined) return others.length === 0 ? spot.bind : null;
  return facts.id !== LOCAL && peer.facts.id === LOCAL ? '127.0.0.1' : null;
}

/** The local end dials through the ssh connection of the other, which listens. */
function forwardThroughSsh(from: Place, to: Place, bind: TcpRoute['bind']): readonly Candidate[] {
  if (from.facts.id !== LOCAL && to.facts.id !== LOCAL) return [];
  const [dialler, listening] =
    from.facts.id === LOCAL ? (['sender', bind.receiver] as const) : (['receiver', bind.sender] as const);
  return [candidate(dialler, 'forward', listening ?? '127.0.0.1', 'forwarded through ssh')];
}

function candidate(dialler: Candidate['dialler'], way: Candidate['way'], host: string, why: string): Candidate {
  return { transport: 'tcp', dialler, way, host, from: null, device: null, why };
}
