import { setTimeout as delay } from 'node:timers/promises';
import type { Candidate, DialAddress, HopLink, SessionId } from '../model/plan.ts';
import type { AgentEvent, AgentRequest, HopEnd, NativeCode } from '../model/protocol.ts';
import type { Forward } from '../session/host-session.ts';
import { notConnected } from './hop-words.ts';
import type { Inbox } from './inbox.ts';

/** What connecting needs of the run. */
export interface HopPorts {
  readonly inbox: Inbox;
  readonly timeoutMs: number;
  label(session: SessionId): string;
  send(session: SessionId, request: AgentRequest): void;
  /** Leads a local socket to host:port as seen from the session's host; undefined where it cannot. */
  forward(session: SessionId, host: string, port: number, signal: AbortSignal): Promise<Forward | undefined>;
}

export type Connected = Extract<AgentEvent, { event: 'connected' }>;

/** One way that is being tried, and what came of it. */
export interface Try {
  readonly candidate: Candidate;
  address: DialAddress | undefined;
  refusal: { readonly code: NativeCode; readonly message: string } | undefined;
}

export interface HopConnection {
  readonly hop: HopLink;
  readonly tries: readonly Try[];
  readonly ends: Readonly<Record<HopEnd, Connected>>;
}

/**
 * Connects every hop, all at once; resolves when both ends of each are authenticated.
 * @throws HopError when a hop's last way is refused, or none has answered within the time.
 */
export async function connectHops(
  hops: readonly HopLink[],
  ports: HopPorts,
  onConnected: (connection: HopConnection) => void,
  signal: AbortSignal,
): Promise<void> {
  await Promise.all(hops.map(async (hop) => onConnected(await connectHop(hop, ports, signal))));
}

async function connectHop(hop: HopLink, ports: HopPorts, runSignal: AbortSignal): Promise<HopConnection> {
  const decided = new AbortController();
  const signal = AbortSignal.any([runSignal, decided.signal]);
  const tries: Try[] = [];
  try {
    const ends = await Promise.race([bothEnds(hop, ports.inbox, signal), tryWays(hop, tries, ports, signal)]);
    return { hop, tries, ends };
  } catch (error) {
    throw runSignal.aborted ? runSignal.reason : error;
  } finally {
    decided.abort();
  }
}

async function bothEnds(hop: HopLink, inbox: Inbox, signal: AbortSignal): Promise<Record<HopEnd, Connected>> {
  const connected = (end: HopEnd) =>
    inbox.next((_, event) => (event.event === 'connected' && isOf(hop, end, event) ? event : undefined), signal);
  const [send, recv] = await Promise.all([connected('send'), connected('recv')]);
  return { send, recv };
}

/** Starts one way after the other; the next one joins when the last was refused or has not answered for a while. */
async function tryWays(hop: HopLink, tries: Try[], ports: HopPorts, signal: AbortSignal): Promise<never> {
  const started = performance.now();
  const listening = listenOnce(hop, ports, signal);
  const refusals: Promise<void>[] = [];
  for (const candidate of hop.candidates) {
    signal.throwIfAborted();
    const way: Try = { candidate, address: undefined, refusal: undefined };
    tries.push(way);
    const refused = tryWay(hop, way, listening, ports, signal);
    refusals.push(refused);
    await Promise.race([refused, delay(ports.timeoutMs / 4, undefined, { signal })]);
  }
  const left = Math.max(0, ports.timeoutMs - (performance.now() - started));
  await Promise.race([Promise.all(refusals), delay(left, undefined, { signal })]);
  throw notConnected(hop, tries, ports.label, ports.timeoutMs / 1000);
}

type Listening = (end: HopEnd) => Promise<number>;

/** Tells an end to listen when it is first needed, and remembers its port. */
function listenOnce(hop: HopLink, ports: HopPorts, signal: AbortSignal): Listening {
  const known = new Map<HopEnd, Promise<number>>();
  return (end) => {
    const port = known.get(end) ?? listen(hop, end, ports, signal);
    known.set(end, port);
    return port;
  };
}

function listen(hop: HopLink, end: HopEnd, ports: HopPorts, signal: AbortSignal): Promise<number> {
  const port = ports.inbox.next(
    (_, event) => (event.event === 'listening' && isOf(hop, end, event) ? event.port : undefined),
    signal,
  );
  ports.send(sessionOf(hop, end), { op: 'listen', link: hop.number, end });
  return port;
}

/** Resolves when this way was refused, or the hop is decided; never rejects, and stays open while it may still succeed. */
async function tryWay(
  hop: HopLink,
  way: Try,
  listening: Listening,
  ports: HopPorts,
  signal: AbortSignal,
): Promise<void> {
  try {
    way.refusal = await dial(hop, way, listening, ports, signal);
  } catch (error) {
    if (signal.aborted) return;
    way.refusal = { code: 'cannot_connect', message: error instanceof Error ? error.message : String(error) };
  }
}

async function dial(
  hop: HopLink,
  way: Try,
  listening: Listening,
  ports: HopPorts,
  signal: AbortSignal,
): Promise<Try['refusal']> {
  const [end, other] = way.candidate.dialler === 'sender' ? (['send', 'recv'] as const) : (['recv', 'send'] as const);
  way.address = await addressOf(hop, way.candidate, other, await listening(other), ports, signal);
  if (way.address === undefined) return { code: 'cannot_connect', message: 'this session cannot forward' };
  const failed = ports.inbox.next(
    (_, event) => (event.event === 'dial_failed' && isOf(hop, end, event) ? event : undefined),
    signal,
  );
  ports.send(sessionOf(hop, end), { op: 'dial', link: hop.number, end, addresses: [way.address] });
  return failed;
}

async function addressOf(
  hop: HopLink,
  { way, host }: Candidate,
  listener: HopEnd,
  port: number,
  ports: HopPorts,
  signal: AbortSignal,
): Promise<DialAddress | undefined> {
  if (way === 'address') return { host, port };
  const forward = await ports.forward(sessionOf(hop, listener), host, port, signal);
  return forward === undefined ? undefined : { unix: forward.socketPath };
}

function sessionOf(hop: HopLink, end: HopEnd): SessionId {
  return end === 'send' ? hop.from : hop.to;
}

function isOf(hop: HopLink, end: HopEnd, event: { readonly link: number; readonly end: HopEnd }): boolean {
  return event.link === hop.number && event.end === end;
}
