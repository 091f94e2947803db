/** Repairs chains: when a host is lost, its neighbours are joined, and the stream resumes. */
import { setTimeout as delay } from 'node:timers/promises';
import { SessionError } from '../model/errors.ts';
import type { HopLink, PlannedLink, Segment, SessionId } from '../model/plan.ts';
import type { AgentEvent, HopEnd } from '../model/protocol.ts';
import { hopOpen } from '../plan/links.ts';
import { beginListening, connectHops, type HopContext } from './connect-hops.ts';
import type { HopConnection } from './hop-connection.ts';
import type { Losses } from './losses.ts';
import { newKey } from './prepare-request.ts';
import { type ConnectionContext, reportConnection } from './report-connection.ts';
import type { Failure } from './state.ts';

/** The services of the run that repairs use. */
export interface RepairContext extends HopContext, ConnectionContext {
  readonly settings: { readonly run: string };
  readonly losses: Losses;
  fail(failure: Failure): void;
  /** @throws HopError */
  planRepair(sender: HopLink, receiver: HopLink): HopLink;
}

export interface ChainRepair {
  receive(event: AgentEvent): void;
  hostLost(session: SessionId): void;
}

/** Time to wait, after neighbours have lost each other, for the news that one of their hosts is lost. */
const NEWS_LIMIT_MS = 1000;
/** Time limit to join two hosts: losing a host that is only busy is worse than a pause. */
const JOIN_LIMIT_MS = 10_000;
/** Time limit to join a host that both of its neighbours have lost, if ssh may not relay either. */
const CUT_OFF_LIMIT_MS = 3000;

/** Repairs the chains of a segment until `signal` aborts. */
export function createChainRepair(segment: Segment, context: RepairContext, signal: AbortSignal): ChainRepair {
  const chains = chainsOf(segment).map((links) => createChain(links, context, signal));
  return {
    receive(event) {
      for (const chain of chains) chain.receive(event);
    },
    hostLost(session) {
      for (const chain of chains) chain.hostLost(session);
    },
  };
}

/** Returns the links of each chain, in order. */
function chainsOf({ links }: Segment): readonly (readonly PlannedLink[])[] {
  const heads = new Set(links.flatMap(({ chain }) => (chain === undefined ? [] : [chain.head])));
  return [...heads].map((head) => links.filter(({ chain }) => chain?.head === head));
}

/**
 * Creates the repair of one chain. Link k of the chain leads to host k; link 0 begins at the first sender, whose number
 * is -1. So the sending end on host k belongs to link k + 1.
 */
function createChain(links: readonly PlannedLink[], context: RepairContext, signal: AbortSignal): ChainRepair {
  const { losses } = context;
  const indices = new Map(links.map(({ number }, index) => [number, index]));
  const joins = new Map<number, AbortController>();
  const parted = new Set<string>();
  const finished = new Set<number>();
  const isHere = (host: number) => host < 0 || !losses.isLost(hostOf(links, host));
  const before = (host: number) => lastWhere(host - 1, isHere);
  const behind = (host: number) => links.findIndex((_, other) => other > host && isHere(other));
  /** True if both neighbours have lost the host. */
  const isCutOff = (host: number) => parted.has(`${before(host)} send`) && parted.has(`${behind(host)} recv`);
  const isSilent = (host: number) => !parted.has(`${host} recv`) && !parted.has(`${host} send`);

  const join = (sender: number, receiver: number) => {
    joins.get(sender)?.abort();
    const stopped = new AbortController();
    joins.set(sender, stopped);
    const ended = AbortSignal.any([signal, stopped.signal]);
    void joinHosts(links[sender + 1], links[receiver], isCutOff(receiver), context, ended).then((isJoined) => {
      if (joins.get(sender) === stopped) joins.delete(sender);
      if (!isJoined && !signal.aborted && !stopped.signal.aborted) declareLost(links, receiver, context);
    });
  };
  const closeGap = (sender: number) => {
    const receiver = behind(sender);
    joins.get(sender)?.abort();
    if (receiver >= 0 && !finished.has(receiver)) return join(sender, receiver);
    const end = links[sender + 1];
    if (end !== undefined) context.send(senderOf(end), { op: 'last', link: end.number, end: 'send' });
  };
  const onParted = async (host: number, end: HopEnd) => {
    const [sender, receiver] = end === 'send' ? [host, behind(host)] : [before(host), host];
    const other = end === 'send' ? receiver : sender;
    if (other >= 0 && isCutOff(other) && isSilent(other)) return declareLost(links, other, context);
    if (receiver < 0 || joins.has(sender)) return;
    await delay(NEWS_LIMIT_MS, undefined, { signal });
    if (joins.has(sender) || !isHere(receiver) || (end === 'recv' && before(host) !== sender)) return;
    if (parted.has(`${sender} send`) || parted.has(`${receiver} recv`)) join(sender, receiver);
  };
  return {
    receive(event) {
      if (!('link' in event) || !('end' in event)) return;
      const index = indices.get(event.link);
      if (index === undefined) return;
      const host = event.end === 'send' ? index - 1 : index;
      if (event.event === 'connected') parted.delete(`${host} ${event.end}`);
      if (event.event === 'link_ended' && event.end === 'recv' && event.result === 'delivered') finished.add(index);
      if (event.event !== 'parted' || !isHere(host)) return;
      parted.add(`${host} ${event.end}`);
      onParted(host, event.end).catch(() => {}); // the run has ended
    },
    hostLost(session) {
      links.forEach((_, host) => {
        if (hostOf(links, host) !== session) return;
        joins.get(host)?.abort();
        closeGap(before(host));
      });
    },
  };
}

/**
 * Joins two hosts; returns true if both ends are connected. Returns false if no plan is possible or the connection is
 * refused: neither ends the run.
 */
async function joinHosts(
  sender: PlannedLink | undefined,
  receiver: PlannedLink | undefined,
  isCutOff: boolean,
  context: RepairContext,
  signal: AbortSignal,
): Promise<boolean> {
  if (sender?.kind !== 'hop' || receiver?.kind !== 'hop') return false;
  try {
    const hop = context.planRepair(sender, receiver);
    const keys = { links: new Map([[hop.number, newKey()]]), chains: new Map() };
    const { settings, label, emit, note } = context;
    context.send(hop.from, {
      op: 'rejoin',
      link: sender.number,
      end: 'send',
      open: hopOpen(hop, 'send', keys, settings.run),
    });
    context.send(hop.to, {
      op: 'rejoin',
      link: hop.number,
      end: 'recv',
      open: hopOpen(hop, 'recv', keys, settings.run),
    });
    const mayRelay = hop.candidates.some(({ way }) => way === 'relay');
    const limitMs = isCutOff && !mayRelay ? CUT_OFF_LIMIT_MS : JOIN_LIMIT_MS;
    const limited = { ...context, timeoutMs: Math.min(context.timeoutMs, limitMs) };
    const onConnected = (connection: HopConnection) => reportConnection(connection, context);
    await connectHops(beginListening([hop], limited, signal), limited, onConnected, signal);
    const joined = `${label(hop.from)} and ${label(hop.to)} were connected to each other, and the stream continued`;
    note(hop.number, joined);
    emit({ kind: 'log', message: joined });
    return true;
  } catch {
    return false;
  }
}

function declareLost(links: readonly PlannedLink[], host: number, { label, fail }: RepairContext): void {
  const name = label(hostOf(links, host));
  const error = new SessionError('session_lost', name, `lost ${name}: its neighbours in the chain cannot reach it`);
  fail({ kind: 'error', error });
}

function hostOf(links: readonly PlannedLink[], host: number): SessionId {
  const link = links[host];
  if (link === undefined) throw new Error(`the chain has no host ${host}`);
  return link.kind === 'hop' ? link.to : link.session;
}

function senderOf(link: PlannedLink): SessionId {
  return link.kind === 'hop' ? link.from : link.session;
}

function lastWhere(from: number, is: (host: number) => boolean): number {
  let host = from;
  while (host >= 0 && !is(host)) host--;
  return host;
}
