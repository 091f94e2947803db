/** The addresses of a hop's ends: from --data, from ssh, from the hosts' own lists. */
import { isIP, SocketAddress } from 'node:net';
import { type HostRef, THIS_MACHINE } from '../model/pipeline.ts';
import type { SessionId } from '../model/plan.ts';
import type { HostAddress } from '../model/protocol.ts';
import { type DataAddress, forHost } from '../model/settings.ts';
import { sshConnectionOf } from '../model/ssh-connection.ts';
import { LOCAL, type PlanInput, type SessionFacts } from './facts.ts';

/** One end of a hop, with the addresses at which the other end may reach it. */
export interface HopEndAddresses {
  readonly facts: SessionFacts;
  /** The address that the user gave: then no other is used. */
  readonly given: DataAddress | undefined;
  /** The address that ssh used, or its equivalent for this machine. */
  readonly ssh: string | undefined;
  /** Addresses of the host at which other hosts may reach it; with `given` only those, if the host has them. */
  readonly own: readonly HostAddress[];
}

/** Returns the addresses of a session's end of a hop to `peer`. */
export function placeOf(session: SessionFacts, peer: SessionFacts, input: PlanInput): HopEndAddresses {
  const given = givenAddress(session, input);
  const ssh = sshAddress(session, peer, input);
  return { facts: session, given, ssh, own: ownAddresses(session, peer, given, ssh) };
}

/** True if both ends see the same network, so that loopback connects them. */
export function onOneMachine(a: SessionFacts, b: SessionFacts): boolean {
  return a.hello.boot_id !== '' && a.hello.boot_id === b.hello.boot_id && a.hello.net_ns === b.hello.net_ns;
}

/** Returns the host's own entry for an address, or undefined. */
export function entryOf({ hello }: SessionFacts, address: string): HostAddress | undefined {
  return hello.addresses.find((entry) => entry.address === address);
}

/**
 * Returns pairs of addresses in the same subnet, according to both ends. They may still be two networks with the same
 * number.
 */
export function commonSubnets(from: HopEndAddresses, to: HopEndAddresses): readonly AddressPair[] {
  const others = to.own.map(numbered);
  return from.own.map(numbered).flatMap((one) => {
    const near = others.filter((other) => holds(one, other) && holds(other, one));
    return near.map((other) => ({ from: one.entry, to: other.entry }));
  });
}

export interface AddressPair {
  readonly from: HostAddress;
  readonly to: HostAddress;
}

/**
 * Returns a number by which addresses can be sorted, so that those of one subnet are adjacent; an unknown address comes
 * first.
 */
export function orderOfAddress(address: string | undefined): bigint {
  if (address === undefined) return 0n;
  const { bits, number } = numberOf(address.replace(/%.*$/, ''));
  return (BigInt(bits) << 128n) | number;
}

/** Returns the first item of each key. */
export function firstOfEach<Item>(items: readonly Item[], keyOf: (item: Item) => string): readonly Item[] {
  const seen = new Set<string>();
  return items.filter((item) => {
    const key = keyOf(item);
    const isFirst = !seen.has(key);
    seen.add(key);
    return isFirst;
  });
}

/** Returns the family of a numeric address. */
export function familyOf(address: string): 'ipv4' | 'ipv6' {
  return address.includes(':') ? 'ipv6' : 'ipv4';
}

function givenAddress(session: SessionFacts, input: PlanInput): DataAddress | undefined {
  const data = hostsOf(session, input)
    .map((host) => forHost(input.settings.data, host))
    .find((found) => found !== undefined);
  if (data === undefined) return undefined;
  return { ...data, address: canonical(data.address), others: data.others.map(canonical) };
}

/**
 * Returns an address in the form that hosts use: `2001:db8::1` for `2001:DB8:0::1`. An address with a zone is not
 * changed.
 */
function canonical(address: string): string {
  return address.includes('%') ? address : new SocketAddress({ address, family: familyOf(address) }).address;
}

/** Returns the hosts, as written, whose stages run in this session; includes this machine even without a stage. */
function hostsOf(session: SessionFacts, input: PlanInput): readonly HostRef[] {
  const known = namesByInput.get(input) ?? namesOf(input);
  namesByInput.set(input, known);
  const hosts = known.get(session.id) ?? [];
  return session.id === LOCAL ? [...hosts, THIS_MACHINE] : hosts;
}

type Names = ReadonlyMap<SessionId, readonly HostRef[]>;

/** Cached, because each hop of a plan needs the names of both ends. */
const namesByInput = new WeakMap<PlanInput, Names>();

function namesOf({ pipeline, stageSessions }: PlanInput): Names {
  const names = new Map<SessionId, HostRef[]>();
  for (const [index, { host }] of pipeline.stages.entries()) {
    const id = stageSessions[index];
    if (id === undefined) continue;
    const known = names.get(id);
    if (known === undefined) names.set(id, [host]);
    else known.push(host);
  }
  return names;
}

function sshAddress(session: SessionFacts, peer: SessionFacts, input: PlanInput): string | undefined {
  if (session.id === LOCAL) return clientAddress(session, peer);
  const server = sshConnectionOf(session.hello)?.server;
  if (server !== undefined && isRoutable(server)) return server;
  const local = input.sessions.get(LOCAL);
  return local !== undefined && onOneMachine(session, local) ? clientAddress(local, peer) : undefined;
}

/**
 * Returns the address of this machine as seen by `peer`: the client of its ssh connection, unless that is a jump host
 * or a router.
 */
function clientAddress(local: SessionFacts, peer: SessionFacts): string | undefined {
  const client = peer.id === LOCAL ? undefined : sshConnectionOf(peer.hello)?.client;
  if (client === undefined || !isRoutable(client)) return undefined;
  return entryOf(local, client) === undefined ? undefined : client;
}

/**
 * True for a numeric address of use to other hosts: loopback leads back to the dialer, and a link-local address needs
 * the dialer's own zone.
 */
function isRoutable(address: string): boolean {
  return !/^(127\.|::1$|fe[89ab][0-9a-f]:|169\.254\.)/i.test(address) && isIP(address) !== 0;
}

function ownAddresses(
  { hello }: SessionFacts,
  peer: SessionFacts,
  given: DataAddress | undefined,
  ssh: string | undefined,
): readonly HostAddress[] {
  const up = hello.addresses.filter((entry) => entry.up);
  if (given !== undefined) return up.filter(({ address }) => [given.address, ...given.others].includes(address));
  // If both ends have an address, such as the default one of a bridge, it leads each end to itself.
  const shared = new Set(peer.hello.addresses.map(({ address }) => address));
  return up.filter(({ address, kind }) => !shared.has(address) && (leadsOut(kind) || address === ssh));
}

/** Bridges connect containers and virtual machines to their own host: every host has them, with the same numbers. */
function leadsOut(kind: HostAddress['kind']): boolean {
  return kind === 'physical' || kind === 'virtual';
}

interface Numbered {
  readonly entry: HostAddress;
  readonly bits: number;
  readonly number: bigint;
}

function numbered(entry: HostAddress): Numbered {
  return { entry, ...numberOf(entry.address) };
}

function numberOf(address: string): Pick<Numbered, 'bits' | 'number'> {
  const isIPv4 = familyOf(address) === 'ipv4';
  return { bits: isIPv4 ? 32 : 128, number: isIPv4 ? ipv4Number(address) : ipv6Number(address) };
}

/** True if the subnet of the first contains the address of the other. */
function holds({ entry: { prefix }, bits, number }: Numbered, other: Numbered): boolean {
  return bits === other.bits && (number ^ other.number) >> BigInt(bits - prefix) === 0n;
}

function ipv4Number(address: string): bigint {
  return BigInt(address.split('.').reduce((sum, part) => sum * 256 + Number(part), 0));
}

/** Node's BlockList would also work, but would take most of the time to plan a thousand hosts. */
function ipv6Number(address: string): bigint {
  const [head = [], tail = []] = address.split('::').map(groupsOf);
  const zeros = Array<string>(8 - head.length - tail.length).fill('0000');
  return BigInt(`0x${[...head, ...zeros, ...tail].join('')}`);
}

/** Returns groups of four hexadecimal digits; the last two groups may be written as an IPv4 address. */
function groupsOf(text: string): readonly string[] {
  const groups = text === '' ? [] : text.split(':');
  return groups.flatMap((group) => {
    if (!group.includes('.')) return [group.padStart(4, '0')];
    const hex = ipv4Number(group).toString(16).padStart(8, '0');
    return [hex.slice(0, 4), hex.slice(4)];
  });
}
