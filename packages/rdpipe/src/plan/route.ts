/** How the two ends of a hop find each other: addresses, who may dial, whether the stream leaves the machine. */
import type { HostRef } from '../model/pipeline.ts';
import type { Candidate, HopLink } from '../model/plan.ts';
import { forHost } from '../model/settings.ts';
import { LOCAL, type PlanInput, type SessionFacts } from './facts.ts';

export type Route = Pick<HopLink, 'candidates' | 'bind' | 'encrypt' | 'why'>;

/** Ways to connect `from`, which sends, with `to`, which receives: best first, possibly none. */
export function routeHop(from: SessionFacts, to: SessionFacts, input: PlanInput): Route {
  const receiver = addressOf(to, from, input);
  const sender = addressOf(from, to, input);
  const candidates: Candidate[] = [];
  if (receiver !== undefined)
    candidates.push({ dialler: 'sender', way: 'address', host: receiver.host, why: receiver.why });
  if (sender !== undefined) {
    candidates.push({ dialler: 'receiver', way: 'address', host: sender.host, why: `${sender.why}, receiver dials` });
  }
  const forward = forwardThroughSsh(from, to, sender, receiver);
  if (forward !== undefined) candidates.push(forward);
  const bind = { sender: bindOf(sender, from, to), receiver: bindOf(receiver, to, from) };
  return { candidates, bind, ...encryption(from, to, input) };
}

/** Both ends see the same network: loopback leads from one to the other. */
export function onOneMachine(a: SessionFacts, b: SessionFacts): boolean {
  return a.hello.boot_id !== '' && a.hello.boot_id === b.hello.boot_id && a.hello.net_ns === b.hello.net_ns;
}

interface Address {
  readonly host: string;
  /** What the end binds when it listens here; null: every address. */
  readonly bind: string | null;
  readonly why: string;
}

/** Where `peer` may dial `session`; undefined when nothing is known that could work. */
function addressOf(session: SessionFacts, peer: SessionFacts, input: PlanInput): Address | undefined {
  return givenAddress(session, input) ?? sameMachine(session, peer) ?? sshAddress(session, peer, input);
}

function givenAddress(session: SessionFacts, input: PlanInput): Address | undefined {
  const data = hostsOf(session, input)
    .map((host) => forHost(input.settings.data, host))
    .find((found) => found !== undefined);
  if (data === undefined) return undefined;
  const elsewhere = session.id === LOCAL && !input.localAddresses.includes(data.address);
  return { host: data.address, bind: elsewhere ? null : data.address, why: data.why };
}

/** The hosts, as written, whose stages run in this session; this machine counts even without a stage. */
function hostsOf(session: SessionFacts, { pipeline, stageSessions }: PlanInput): readonly HostRef[] {
  const hosts = pipeline.stages.filter((_, index) => stageSessions[index] === session.id).map(({ host }) => host);
  return session.id === LOCAL ? [...hosts, { name: '', user: undefined, label: session.label }] : hosts;
}

function sameMachine(session: SessionFacts, peer: SessionFacts): Address | undefined {
  return onOneMachine(session, peer) ? fixed('127.0.0.1', 'same machine') : undefined;
}

function sshAddress(session: SessionFacts, peer: SessionFacts, input: PlanInput): Address | undefined {
  if (session.id === LOCAL) return ownAddress(peer, input);
  const server = sshEnds(session)?.server;
  if (server !== undefined && isRoutable(server)) return fixed(server, 'address of ssh');
  const local = input.sessions.get(LOCAL);
  return local !== undefined && onOneMachine(session, local) ? ownAddress(peer, input) : undefined;
}

/** This machine as `peer` sees it: the client of its ssh connection, unless that is a jump host or a router. */
function ownAddress(peer: SessionFacts, { localAddresses }: PlanInput): Address | undefined {
  const client = peer.id === LOCAL ? undefined : sshEnds(peer)?.client;
  if (client === undefined || !isRoutable(client) || !localAddresses.includes(client)) return undefined;
  return fixed(client, 'address of ssh');
}

function fixed(host: string, why: string): Address {
  return { host, bind: host, why };
}

/** `SSH_CONNECTION`: client address, client port, server address, server port. */
function sshEnds(session: SessionFacts): { readonly client: string; readonly server: string } | undefined {
  const [client, , server] =
    session.hello.ssh_connection?.split(' ').map((word) => word.replace(/^::ffff:(?=\d+\.)/, '')) ?? [];
  return client === undefined || server === undefined ? undefined : { client, server };
}

/** Loopback leads back to whoever dials it, and a link-local address needs the dialler's own zone. */
function isRoutable(address: string): boolean {
  return !/^(127\.|::1$|fe[89ab][0-9a-f]:|169\.254\.|UNKNOWN$)/i.test(address);
}

/** The local end dials through the ssh connection of the other, which listens. */
function forwardThroughSsh(
  from: SessionFacts,
  to: SessionFacts,
  sender: Address | undefined,
  receiver: Address | undefined,
): Candidate | undefined {
  if (from.id !== LOCAL && to.id !== LOCAL) return undefined;
  const dialler = from.id === LOCAL ? 'sender' : 'receiver';
  const listening = dialler === 'sender' ? receiver : sender;
  return { dialler, way: 'forward', host: listening?.bind ?? '127.0.0.1', why: 'forwarded through ssh' };
}

/** An end without an address can only be reached by a forward, which comes from its own loopback. */
function bindOf(address: Address | undefined, session: SessionFacts, peer: SessionFacts): string | null {
  if (address !== undefined) return address.bind;
  return session.id !== LOCAL && peer.id === LOCAL ? '127.0.0.1' : null;
}

function encryption(from: SessionFacts, to: SessionFacts, { settings }: PlanInput): Pick<Route, 'encrypt' | 'why'> {
  if (settings.encrypt === 'always') return { encrypt: true, why: 'tcp, encrypted (--encrypt always)' };
  if (settings.encrypt === 'never') return { encrypt: false, why: 'tcp, not encrypted (--encrypt never)' };
  if (onOneMachine(from, to)) return { encrypt: false, why: 'tcp, not encrypted (stays on the machine)' };
  return { encrypt: true, why: 'tcp, encrypted (leaves the machine)' };
}
