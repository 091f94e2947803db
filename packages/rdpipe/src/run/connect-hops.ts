/** Connects the hops of a segment: listens, then dials one candidate a little after the other. */
import { setMaxListeners } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import type { Candidate, DialAddress, HopLink, SessionId } from '../model/plan.ts';
import type { AgentRequest, HopEnd, Transport } from '../model/protocol.ts';
import type { Forward, RemoteForward } from '../session/host-session.ts';
import type { EventBus, EventSource } from './event-bus.ts';
import type { Attempt, HopConnection, Refusal } from './hop-connection.ts';
import { notConnected } from './hop-messages.ts';
import type { KnownPaths } from './known-paths.ts';
import type { Connected } from './state.ts';

/** The services of the run that are used to connect hops. */
export interface HopContext {
  readonly bus: EventBus;
  readonly timeoutMs: number;
  readonly paths: KnownPaths;
  label(session: SessionId): string;
  send(session: SessionId, request: AgentRequest): void;
  /**
   * Opens a local socket that leads to host:port as seen from the session's host; undefined if the session cannot
   * forward.
   */
  forward(session: SessionId, host: string, port: number, signal: AbortSignal): Promise<Forward | undefined>;
  /** Opens a port on the session's host that leads to a local socket; undefined if the session cannot forward. */
  forwardBack(session: SessionId, socketPath: string, signal: AbortSignal): Promise<RemoteForward | undefined>;
}

/** Returns the port on which an end listens, or why it cannot. */
type Listening = (end: HopEnd, transport: Transport) => Promise<number | Refusal>;

/** A hop whose listening end was asked to listen for the first candidate. */
export interface ListeningHop {
  readonly hop: HopLink;
  readonly listening: Listening;
}

/**
 * Asks the end that listens for each hop's first candidate to do so. This needs no preparation: the request can be sent
 * together with `prepare` and shares its round trip.
 */
export function beginListening(hops: readonly HopLink[], context: HopContext, signal: AbortSignal): ListeningHop[] {
  return hops.map((hop) => {
    const listening = listenOnce(hop, context, signal);
    const [first] = hop.candidates;
    if (first !== undefined) void listening(listenerOf(first), first.transport);
    return { hop, listening };
  });
}

/**
 * Connects all hops at the same time; resolves when both ends of each hop are authenticated.
 * @throws HopError if a hop's last candidate is refused, or no candidate connects within the time limit.
 */
export async function connectHops(
  hops: readonly ListeningHop[],
  context: HopContext,
  onConnected: (connection: HopConnection) => void,
  signal: AbortSignal,
): Promise<void> {
  await Promise.all(hops.map(async (hop) => onConnected(await connectHop(hop, context, signal))));
}

async function connectHop(
  { hop, listening }: ListeningHop,
  context: HopContext,
  runSignal: AbortSignal,
): Promise<HopConnection> {
  const decided = new AbortController();
  const signal = AbortSignal.any([runSignal, decided.signal]);
  setMaxListeners(0, signal); // one listener per candidate
  const attempts: Attempt[] = [];
  try {
    const ends = await Promise.race([
      bothEnds(hop, context.bus, signal),
      tryCandidates(hop, attempts, listening, context, signal),
    ]);
    const connection = { hop, attempts, ends };
    context.paths.keep(connection);
    return connection;
  } catch (error) {
    throw runSignal.aborted ? runSignal.reason : error;
  } finally {
    decided.abort();
  }
}

async function bothEnds(hop: HopLink, bus: EventBus, signal: AbortSignal): Promise<Record<HopEnd, Connected>> {
  const connected = (end: HopEnd) =>
    bus.next(
      sourceOf(hop, end),
      (event) => (event.event === 'connected' && isOf(hop, end, event) ? event : undefined),
      signal,
    );
  const [send, recv] = await Promise.all([connected('send'), connected('recv')]);
  return { send, recv };
}

/**
 * Starts the candidates one after another, the next one when the previous one was refused or has not connected for a
 * while; earlier ones may still connect. So TCP, which connects sooner than RDMA, does not overtake it.
 */
async function tryCandidates(
  hop: HopLink,
  attempts: Attempt[],
  listening: Listening,
  context: HopContext,
  signal: AbortSignal,
): Promise<never> {
  const started = performance.now();
  const refusals: Promise<void>[] = [];
  for (const candidate of context.paths.order(hop)) {
    signal.throwIfAborted();
    const attempt: Attempt = { candidate, address: undefined, refusal: undefined };
    attempts.push(attempt);
    const refused = tryCandidate(hop, attempt, listening, context, signal);
    refusals.push(refused);
    await Promise.race([refused, delay(patienceOf(candidate, hop) * context.timeoutMs, undefined, { signal })]);
  }
  const left = Math.max(0, context.timeoutMs - (performance.now() - started));
  await Promise.race([Promise.all(refusals), delay(left, undefined, { signal })]);
  throw notConnected(hop, attempts, context.label, context.timeoutMs / 1000);
}

/**
 * The fraction of the time limit after which the next candidate starts. The direct ones share a quarter, because a
 * firewall that drops packets silently must not hold up a path through ssh for long; RDMA has a half of it.
 */
function patienceOf(candidate: Candidate, { candidates }: HopLink): number {
  if (candidate.way !== 'address') return DIRECT_SHARE / 2;
  const direct = candidates.filter(({ way }) => way === 'address');
  const alike = direct.filter(({ transport }) => transport === candidate.transport).length;
  return (alike === direct.length ? DIRECT_SHARE : DIRECT_SHARE / 2) / alike;
}

const DIRECT_SHARE = 1 / 4;

/** Asks an end to listen when this is first needed, and keeps the answer; rejects only if the run ends. */
function listenOnce(hop: HopLink, context: HopContext, signal: AbortSignal): Listening {
  const known = new Map<string, Promise<number | Refusal>>();
  return (end, transport) => {
    const key = `${end} ${transport}`;
    const earlier = known.get(key);
    if (earlier !== undefined) return earlier;
    const answer = listen(hop, end, transport, context, signal);
    answer.catch(() => {});
    known.set(key, answer);
    return answer;
  };
}

async function listen(
  hop: HopLink,
  end: HopEnd,
  transport: Transport,
  context: HopContext,
  signal: AbortSignal,
): Promise<number | Refusal> {
  const session = sessionOf(hop, end);
  const answered = context.bus.next(
    sourceOf(hop, end),
    (event) => {
      if (event.event !== 'listening' && event.event !== 'listen_failed') return undefined;
      return isOf(hop, end, event) && event.transport === transport ? event : undefined;
    },
    signal,
  );
  context.send(session, { op: 'listen', link: linkOf(hop, end), end, transport, bind: bindOf(hop, end, transport) });
  const answer = await answered;
  if (answer.event === 'listening') return answer.port;
  return { code: answer.code, message: `${context.label(session)} cannot listen over ${transport}: ${answer.message}` };
}

function bindOf({ bind }: HopLink, end: HopEnd, transport: Transport): string | null {
  if (transport === 'rdma') return bind.rdma;
  return end === 'send' ? bind.sender : bind.receiver;
}

/**
 * Resolves when this candidate was refused or the hop is decided; stays pending while the candidate may succeed. Never
 * rejects.
 */
async function tryCandidate(
  hop: HopLink,
  attempt: Attempt,
  listening: Listening,
  context: HopContext,
  signal: AbortSignal,
): Promise<void> {
  try {
    attempt.refusal = await dial(hop, attempt, listening, context, signal);
  } catch (error) {
    if (signal.aborted) return;
    attempt.refusal = cannotConnect(attempt.candidate, error instanceof Error ? error.message : String(error));
  }
}

async function dial(
  hop: HopLink,
  attempt: Attempt,
  listening: Listening,
  context: HopContext,
  signal: AbortSignal,
): Promise<Refusal> {
  const { candidate } = attempt;
  const other = listenerOf(candidate);
  const end = other === 'recv' ? 'send' : 'recv';
  const port = await listening(other, candidate.transport);
  if (typeof port !== 'number') return port;
  const address = await addressOf(hop, candidate, other, port, context, signal);
  if ('code' in address) return address;
  attempt.address = address;
  const failed = context.bus.next(
    sourceOf(hop, end),
    (event) => (event.event === 'dial_failed' && isOf(hop, end, event) ? event : undefined),
    signal,
  );
  const others = (candidate.others ?? []).map((other) => ({ ...address, ...other }));
  const rails = others.length > 0 && ({ rails: true } as const);
  const request = { op: 'dial', link: linkOf(hop, end), end, addresses: [address, ...others], ...rails } as const;
  context.send(sessionOf(hop, end), request);
  return failed;
}

/** Returns the address that the other end dials to reach `listener`, or the refusal if a session cannot forward. */
async function addressOf(
  hop: HopLink,
  candidate: Candidate,
  listener: HopEnd,
  port: number,
  context: HopContext,
  signal: AbortSignal,
): Promise<DialAddress | Refusal> {
  const { way, host, transport, from } = candidate;
  if (way === 'address') return { host, port, transport, from };
  const session = sessionOf(hop, listener);
  const forward = await context.forward(session, host, port, signal);
  if (forward === undefined) return cannotForward(candidate, session, context);
  if (way === 'forward') return { unix: forward.socketPath };
  const dialer = sessionOf(hop, listener === 'recv' ? 'send' : 'recv');
  const back = await context.forwardBack(dialer, forward.socketPath, signal);
  if (back === undefined) return cannotForward(candidate, dialer, context);
  return { host: '127.0.0.1', port: back.port, transport, from: null };
}

function cannotForward(candidate: Candidate, session: SessionId, { label }: HopContext): Refusal {
  const reasons = 'its sshd may not allow it (AllowTcpForwarding, PermitOpen, PermitListen)';
  return cannotConnect(candidate, `the session to ${label(session)} cannot forward: ${reasons}`);
}

/** The message names the address, because no message of a program does: nothing was dialed yet. */
function cannotConnect({ host }: Candidate, message: string): Refusal {
  return { code: 'cannot_connect', message: `${host}: ${message}` };
}

function listenerOf({ dialer }: Candidate): HopEnd {
  return dialer === 'sender' ? 'recv' : 'send';
}

function sessionOf(hop: HopLink, end: HopEnd): SessionId {
  return end === 'send' ? hop.from : hop.to;
}

function sourceOf(hop: HopLink, end: HopEnd): EventSource {
  return { session: sessionOf(hop, end), link: linkOf(hop, end) };
}

function isOf(hop: HopLink, end: HopEnd, event: { readonly link: number; readonly end: HopEnd }): boolean {
  return event.link === linkOf(hop, end) && event.end === end;
}

/** Returns the number that the end's host uses for the link. */
function linkOf({ number, sendNumber }: HopLink, end: HopEnd): number {
  return end === 'send' ? (sendNumber ?? number) : number;
}
