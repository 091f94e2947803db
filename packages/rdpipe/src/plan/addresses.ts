/** The addresses of a hop's ends: from --data, from ssh, from the hosts' own lists. */
import { BlockList, isIP, SocketAddress } from 'node:net';
import { type HostRef, THIS_MACHINE } from '../model/pipeline.ts';
import type { HostAddress } from '../model/protocol.ts';
import { type DataAddress, forHost } from '../model/settings.ts';
import { LOCAL, type PlanInput, type SessionFacts } from './facts.ts';

/** One end of a hop, as the other end may find it. */
export interface Place {
  readonly facts: SessionFacts;
  /** The address that the user gave: no other is used then. */
  readonly given: DataAddress | undefined;
  /** The address that ssh used, or its equivalent at this machine. */
  readonly ssh: string | undefined;
  /** Addresses that the host has and that may lead to it from elsewhere; with `given` that one, if it has it. */
  readonly own: readonly HostAddress[];
}

export function placeOf(session: SessionFacts, peer: SessionFacts, input: PlanInput): Place {
  const given = givenAddress(session, input);
  const ssh = sshAddress(session, peer, input);
  return { facts: session, given, ssh, own: ownAddresses(session, peer, given, ssh) };
}

/** Both ends see the same network: loopback leads from one to the other. */
export function onOneMachine(a: SessionFacts, b: SessionFacts): boolean {
  return a.hello.boot_id !== '' && a.hello.boot_id === b.hello.boot_id && a.hello.net_ns === b.hello.net_ns;
}

/** The host's own entry for an address. */
export function entryOf({ hello }: SessionFacts, address: string): HostAddress | undefined {
  return hello.addresses.find((entry) => entry.address === address);
}

/** Pairs of addresses that lie in one subnet, by the word of both ends. It may still be two networks of one number. */
export function commonSubnets(from: Place, to: Place): readonly AddressPair[] {
  const others = to.own.map((address) => ({ address, holds: subnetOf(address) }));
  return from.own.flatMap((address) => {
    const holds = subnetOf(address);
    const near = others.filter((other) => holds(other.address) && other.holds(address));
    return near.map((other) => ({ from: address, to: other.address }));
  });
}

export interface AddressPair {
  readonly from: HostAddress;
  readonly to: HostAddress;
}

/** The items whose key no item before them has. */
export function firstOfEach<Item>(items: readonly Item[], keyOf: (item: Item) => string): readonly Item[] {
  const seen = new Set<string>();
  return items.filter((item) => {
    const key = keyOf(item);
    const isFirst = !seen.has(key);
    seen.add(key);
    return isFirst;
  });
}

/** Of a numeric address. */
export function familyOf(address: string): 'ipv4' | 'ipv6' {
  return address.includes(':') ? 'ipv6' : 'ipv4';
}

function givenAddress(session: SessionFacts, input: PlanInput): DataAddress | undefined {
  const data = hostsOf(session, input)
    .map((host) => forHost(input.settings.data, host))
    .find((found) => found !== undefined);
  return data === undefined ? undefined : { ...data, address: canonical(data.address) };
}

/** As hosts write their addresses: `2001:DB8:0::1` is `2001:db8::1`. A zone has no other form. */
function canonical(address: string): string {
  return address.includes('%') ? address : new SocketAddress({ address, family: familyOf(address) }).address;
}

/** The hosts, as written, whose stages run in this session; this machine counts even without a stage. */
function hostsOf(session: SessionFacts, { pipeline, stageSessions }: PlanInput): readonly HostRef[] {
  const hosts = pipeline.stages.filter((_, index) => stageSessions[index] === session.id).map(({ host }) => host);
  return session.id === LOCAL ? [...hosts, THIS_MACHINE] : hosts;
}

function sshAddress(session: SessionFacts, peer: SessionFacts, input: PlanInput): string | undefined {
  if (session.id === LOCAL) return clientAddress(session, peer);
  const server = sshEnds(session)?.server;
  if (server !== undefined && isRoutable(server)) return server;
  const local = input.sessions.get(LOCAL);
  return local !== undefined && onOneMachine(session, local) ? clientAddress(local, peer) : undefined;
}

/** This machine as `peer` sees it: the client of its ssh connection, unless that is a jump host or a router. */
function clientAddress(local: SessionFacts, peer: SessionFacts): string | undefined {
  const client = peer.id === LOCAL ? undefined : sshEnds(peer)?.client;
  if (client === undefined || !isRoutable(client)) return undefined;
  return entryOf(local, client) === undefined ? undefined : client;
}

/** `SSH_CONNECTION`: client address, client port, server address, server port. */
function sshEnds(session: SessionFacts): { readonly client: string; readonly server: string } | undefined {
  const [client, , server] =
    session.hello.ssh_connection?.split(' ').map((word) => word.replace(/^::ffff:(?=\d+\.)/, '')) ?? [];
  return client === undefined || server === undefined ? undefined : { client, server };
}

/** A numeric one: loopback leads back to the dialer, and a link-local address needs the dialer's own zone. */
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
  if (given !== undefined) return up.filter(({ address }) => address === given.address);
  // An address that both ends have, such as a bridge's default one, leads each to itself.
  const shared = new Set(peer.hello.addresses.map(({ address }) => address));
  return up.filter(({ address, kind }) => !shared.has(address) && (leadsOut(kind) || address === ssh));
}

/** Bridges join containers and virtual machines to their own host: every host has them, with the same numbers. */
function leadsOut(kind: HostAddress['kind']): boolean {
  return kind === 'physical' || kind === 'virtual';
}

function subnetOf({ address, prefix }: HostAddress): (other: HostAddress) => boolean {
  const subnet = new BlockList();
  const family = familyOf(address);
  subnet.addSubnet(address, prefix, family);
  return (other) => familyOf(other.address) === family && subnet.check(other.address, family);
}
