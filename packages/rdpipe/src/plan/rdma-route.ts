/** The RDMA candidates of a hop, and what is missing if there are none. */

import type { Candidate } from '../model/plan.ts';
import type { HostAddress, RdmaPort } from '../model/protocol.ts';
import { formatBytes } from '../model/units.ts';
import { commonSubnets, familyOf, firstOfEach, type HopEndAddresses, onOneMachine } from './addresses.ts';

/** More candidates would only use up time that TCP needs after them. */
const CANDIDATES_MAX = 4;
/** Limit of the candidates that need a route between two subnets, which rarely exists. */
const ROUTED_MAX = 2;
/** Enough for a hop's smallest buffers and its handshake. */
const MEMLOCK_MIN_BYTES = 256 * 1024;

/**
 * Returns pairs of ports, best first: on a common subnet before those that need a route, then by speed, then by whether
 * ssh uses the address. If the user gave several addresses of an end, the first candidate uses all pairs on common
 * subnets that share no port. The sender dials: the direction makes no difference to a firewall, because both ends
 * send to the same UDP port.
 */
export function rdmaCandidates(from: HopEndAddresses, to: HopEndAddresses): readonly Candidate[] {
  if (onOneMachine(from.facts, to.facts) || lackOf(from) !== undefined || lackOf(to) !== undefined) return [];
  const rails = rdmaEndsOf(from).flatMap((a) => rdmaEndsOf(to).flatMap((b) => join(a, b)));
  const near = new Set(commonSubnets(from, to).map(({ from: a, to: b }) => pairKey(a, b)));
  const isNear = ({ from: a, to: b }: PortPair) => near.has(pairKey(a.address, b.address));
  const routed = rails.filter((pair) => !isNear(pair) && isRoutable(pair));
  const sorted = firstOfEach([...inOrder(rails.filter(isNear)), ...inOrder(routed)], interfacesOf);
  const best = [...sorted.filter(isNear), ...sorted.filter((pair) => !isNear(pair)).slice(0, ROUTED_MAX)];
  const together = hasSeveral(from) || hasSeveral(to) ? withOwnPorts(sorted.filter(isNear)) : [];
  const [first, ...others] = together;
  const rest = best.filter((pair) => !together.includes(pair)).map((pair) => toCandidate(pair, isNear(pair)));
  return [...(first === undefined ? [] : [atOnce(first, others)]), ...rest].slice(0, CANDIDATES_MAX);
}

function hasSeveral({ given }: HopEndAddresses): boolean {
  return given !== undefined && given.others.length > 0;
}

function atOnce(first: PortPair, others: readonly PortPair[]): Candidate {
  const candidate = toCandidate(first, true);
  if (others.length === 0) return candidate;
  const further = others.map((pair) => toCandidate(pair, true));
  const device = [candidate, ...further].map((one) => one.device).join(' and ');
  return { ...candidate, device, others: further.map(({ host, from }) => ({ host, from })) };
}

/** Returns why there is no route over RDMA, in words for one line: what is missing at each end, or between them. */
export function rdmaLacks(from: HopEndAddresses, to: HopEndAddresses): readonly string[] {
  const [a, b] = [from.facts, to.facts];
  if (onOneMachine(a, b)) return [`${a.label} and ${b.label} are the same machine`];
  if (a.hello.rdma.length === 0 && b.hello.rdma.length === 0) return [`no RDMA device on ${a.label} or ${b.label}`];
  const lacks = [lackOf(from), lackOf(to)].filter((lack) => lack !== undefined);
  return lacks.length > 0 ? lacks : [`no RDMA network connects ${a.label} and ${b.label}`];
}

/** A usable port, with one of its addresses. */
interface RdmaEnd {
  readonly port: RdmaPort;
  readonly address: HostAddress;
  readonly isSsh: boolean;
}

/** Two ports of the same kind of network. */
interface PortPair {
  readonly from: RdmaEnd;
  readonly to: RdmaEnd;
  readonly network: Network;
  readonly rateMbps: number;
}

type Network = 'InfiniBand' | 'RoCE v2' | 'RoCE v1 or iWARP';

function lackOf(place: HopEndAddresses): string | undefined {
  const { hello, label } = place.facts;
  const active = hello.rdma.filter(({ state }) => state === 'active');
  if (hello.rdma.length === 0) return `no RDMA device on ${label}`;
  if (active.length === 0) return inactive(hello.rdma, label);
  if (hello.rdma_lacks !== null) return `${label}: ${hello.rdma_lacks}`;
  if ((hello.memlock ?? Infinity) < MEMLOCK_MIN_BYTES) return shortOfMemory(hello.memlock ?? 0, label);
  if (active.every(({ gids }) => gids.length === 0)) return `no usable GID at ${names(active)} on ${label}`;
  return rdmaEndsOf(place).length === 0 ? withoutAddress(active, place) : undefined;
}

function inactive([port, ...others]: readonly RdmaPort[], label: string): string {
  return port !== undefined && others.length === 0
    ? `port ${nameOf(port)} is ${port.state} on ${label}`
    : `no RDMA port is active on ${label}`;
}

function shortOfMemory(bytes: number, label: string): string {
  const advice = "add '* - memlock unlimited' to /etc/security/limits.d/rdma.conf there and log in again";
  return `the memlock limit of ${formatBytes(bytes)} is too small for RDMA on ${label} (${advice})`;
}

function withoutAddress(active: readonly RdmaPort[], { facts, given }: HopEndAddresses): string {
  if (given !== undefined)
    return `${given.address} is not the address of an RDMA port on ${facts.label} (${given.why})`;
  const interfaces = new Set(active.map((port) => port.interface));
  const down = facts.hello.addresses.find((entry) => !entry.up && interfaces.has(entry.interface));
  if (down !== undefined) return `interface ${down.interface} is down on ${facts.label}`;
  return `no usable IP address for ${names(active)} on ${facts.label}`;
}

function names(ports: readonly RdmaPort[]): string {
  return ports.map(nameOf).join(', ');
}

function nameOf({ device, port }: RdmaPort): string {
  return `${device}/${port}`;
}

function rdmaEndsOf({ facts, own, ssh }: HopEndAddresses): readonly RdmaEnd[] {
  const usable = facts.hello.rdma.filter(({ state, gids }) => state === 'active' && gids.length > 0);
  return usable.flatMap((port) => {
    const leading = own.filter((entry) => entry.interface === port.interface && entry.kind !== 'loopback');
    return leading.map((address) => ({ port, address, isSsh: address.address === ssh }));
  });
}

/** Returns an empty list if the ports cannot reach each other. */
function join(from: RdmaEnd, to: RdmaEnd): readonly PortPair[] {
  const network = networkOf(from.port, to.port);
  if (network === undefined || familyOf(from.address.address) !== familyOf(to.address.address)) return [];
  return [{ from, to, network, rateMbps: Math.min(from.port.rate_mbps, to.port.rate_mbps) }];
}

function networkOf(a: RdmaPort, b: RdmaPort): Network | undefined {
  if (a.link_layer !== b.link_layer) return undefined;
  if (a.link_layer === 'infiniband') return 'InfiniBand';
  const shared = a.gids.filter((kind) => b.gids.includes(kind));
  if (shared.includes('RoCE v2')) return 'RoCE v2';
  return shared.length === 0 ? undefined : 'RoCE v1 or iWARP';
}

function pairKey(a: HostAddress, b: HostAddress): string {
  return `${a.address} ${b.address}`;
}

/** RoCE v1 frames do not leave their Ethernet. */
function isRoutable({ network, from, to }: PortPair): boolean {
  return network !== 'RoCE v1 or iWARP' && from.address.kind !== 'bridge' && to.address.kind !== 'bridge';
}

/**
 * Fastest first, but pairs that use a port of a better pair come after all others, so that one bad port does not spoil
 * all attempts.
 */
function inOrder(rails: readonly PortPair[]): readonly PortPair[] {
  const sorted = [...rails].sort((a, b) => b.rateMbps - a.rateMbps || sshCount(b) - sshCount(a));
  const fresh = withOwnPorts(sorted);
  return [...fresh, ...sorted.filter((pair) => !fresh.includes(pair))];
}

/** Leaves out pairs that use a port of an earlier one. */
function withOwnPorts(sorted: readonly PortPair[]): readonly PortPair[] {
  const seen = new Set<RdmaPort>();
  return sorted.filter(({ from, to }) => {
    const isFresh = !seen.has(from.port) && !seen.has(to.port);
    if (isFresh) seen.add(from.port).add(to.port);
    return isFresh;
  });
}

/** If one pair of addresses fails, other pairs of the same two interfaces also fail. */
function interfacesOf({ from, to }: PortPair): string {
  return `${from.address.interface} ${to.address.interface}`;
}

function sshCount({ from, to }: PortPair): number {
  return Number(from.isSsh) + Number(to.isSsh);
}

function toCandidate({ from, to, network, rateMbps }: PortPair, isNear: boolean): Candidate {
  const devices = new Set([from.port.device, to.port.device]);
  const rate = rateMbps > 0 ? [`${rateMbps / 1000} Gb/s`] : [];
  return {
    transport: 'rdma',
    dialer: 'sender',
    way: 'address',
    host: to.address.address,
    from: from.address.address,
    device: [...devices].join('→'),
    why: [network, ...rate, ...(isNear ? [] : ['routed'])].join(', '),
  };
}
