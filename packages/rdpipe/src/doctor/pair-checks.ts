/** Checks of the network between two hosts, before any data is sent. Pure. */
import type { Finding } from '../model/examination.ts';
import type { HostAddress, RdmaPort, Transport } from '../model/protocol.ts';
import { type AddressPair, commonSubnets, type HopEndAddresses, onOneMachine } from '../plan/addresses.ts';
import { rdmaCandidates, rdmaLacks } from '../plan/rdma-route.ts';
import type { Requirements } from './facts.ts';
import { fail, ok, warn, withoutRdma, withoutRdmaCard } from './finding.ts';

/** Checks subnets, MTUs and the RDMA route of two hosts. */
export function checkPair(from: HopEndAddresses, to: HopEndAddresses, wanted: Requirements): readonly Finding[] {
  if (onOneMachine(from.facts, to.facts)) {
    return [ok('network', 'same machine: using loopback'), ...checkRdmaRoute(from, to, wanted)];
  }
  const pairs = commonSubnets(from, to);
  return [checkNetwork(pairs), ...checkMtus(pairs, from, to, wanted), ...checkRdmaRoute(from, to, wanted)];
}

/** The transports to measure between two hosts: RDMA first, if there is a route for it. */
export function transportsBetween(
  from: HopEndAddresses,
  to: HopEndAddresses,
  { transport }: Requirements,
): readonly Transport[] {
  const rdma = transport !== 'tcp' && rdmaCandidates(from, to).length > 0 ? (['rdma'] as const) : [];
  return transport === 'rdma' ? rdma : [...rdma, 'tcp'];
}

function checkNetwork(pairs: readonly AddressPair[]): Finding {
  if (pairs.length === 0) return ok('network', 'no common subnet; using the addresses that ssh uses, or --data');
  const names = pairs.map(({ from, to }) => `${from.address} (${from.interface}) and ${to.address} (${to.interface})`);
  return ok('network', `common subnet: ${names.join('; ')}`);
}

/** Checks each pair of interfaces once, even if they have several addresses. */
function checkMtus(
  pairs: readonly AddressPair[],
  from: HopEndAddresses,
  to: HopEndAddresses,
  wanted: Requirements,
): readonly Finding[] {
  const byInterfaces = new Map(pairs.map((pair) => [`${pair.from.interface} ${pair.to.interface}`, pair]));
  return [...byInterfaces.values()].flatMap((pair) => [
    checkMtu(pair, from, to, wanted),
    ...(wanted.transport === 'tcp' ? [] : checkPathMtu(pair, from, to)),
  ]);
}

/** TCP uses the smaller MTU; RDMA loses larger packets. */
function checkMtu(pair: AddressPair, from: HopEndAddresses, to: HopEndAddresses, wanted: Requirements): Finding {
  const [a, b] = [pair.from, pair.to];
  if (a.mtu === b.mtu) return ok('mtu', `${a.mtu} on ${endNames(pair, from, to)}`);
  const found = `${a.mtu} on ${nameOf(a, from)}, ${b.mtu} on ${nameOf(b, to)}`;
  const [low, high] = a.mtu < b.mtu ? [{ end: a, place: from }, b] : [{ end: b, place: to }, a];
  const fix = `run ip link set dev ${low.end.interface} mtu ${high.mtu} on ${low.place.facts.label} if the network supports it, and change its configuration`;
  const isRdma = wanted.transport !== 'tcp' && portOf(a, from) !== undefined && portOf(b, to) !== undefined;
  return isRdma ? fail('mtu', found, fix) : warn('mtu', found, fix);
}

/** The path MTU of RDMA follows from the interfaces' MTU, unless it was set explicitly. */
function checkPathMtu(pair: AddressPair, from: HopEndAddresses, to: HopEndAddresses): readonly Finding[] {
  const [a, b] = [portOf(pair.from, from), portOf(pair.to, to)];
  if (a?.mtu == null || b?.mtu == null || a.mtu === b.mtu) return [];
  const found = `${a.mtu} at ${a.device} of ${from.facts.label}, ${b.mtu} at ${b.device} of ${to.facts.label}`;
  return [fail('path mtu', found, 'set the same interface MTU on both hosts')];
}

function endNames({ from: a, to: b }: AddressPair, from: HopEndAddresses, to: HopEndAddresses): string {
  return `${nameOf(a, from)} and ${nameOf(b, to)}`;
}

function nameOf(address: HostAddress, { facts }: HopEndAddresses): string {
  return `${address.interface} of ${facts.label}`;
}

function portOf(address: HostAddress, { facts }: HopEndAddresses): RdmaPort | undefined {
  return facts.hello.rdma.find((port) => port.state === 'active' && port.interface === address.interface);
}

function checkRdmaRoute(from: HopEndAddresses, to: HopEndAddresses, wanted: Requirements): readonly Finding[] {
  if (wanted.transport === 'tcp' || rdmaCandidates(from, to).length > 0) return [];
  const lacks = rdmaLacks(from, to).join('; ');
  if (wanted.transport === 'auto' && onOneMachine(from.facts, to.facts)) return [];
  const fix = 'fix what each host lacks; RDMA ports also need addresses in one subnet, or a route';
  const hasCards = [from, to].every(({ facts }) => facts.hello.rdma.length > 0);
  return [hasCards ? withoutRdma(wanted, 'rdma', lacks, fix) : withoutRdmaCard(wanted, lacks, fix)];
}
