/** Runs one segment: prepares, connects, starts it, and waits until every host has ended it. */
import type { Emit } from '../model/events.ts';
import type { HopLink, Segment, SessionId } from '../model/plan.ts';
import type { AgentEvent } from '../model/protocol.ts';
import { partsOf } from '../plan/parts.ts';
import { beginListening, connectHops, type HopContext } from './connect-hops.ts';
import type { Losses } from './losses.ts';
import { makeKeys, type PrepareSettings, prepareRequest } from './prepare-request.ts';
import { reportConnection } from './report-connection.ts';

/** The services of the run that a segment uses. */
export interface SegmentContext extends HopContext {
  readonly settings: PrepareSettings;
  readonly emit: Emit;
  readonly losses: Losses;
  begin(segment: Segment, signal: AbortSignal): void;
  note(link: number, text: string): void;
}

/**
 * Runs one segment to its end: everything is opened and connected before any command starts. Also resolves for a
 * segment that failed: the run handles failures and aborts `signal`.
 * @throws the signal's reason, HopError, UsageError
 */
export async function runSegment(segment: Segment, context: SegmentContext, signal: AbortSignal): Promise<void> {
  const keys = makeKeys(segment);
  const parts = [...partsOf(segment)];
  const sessions = parts.map(([session]) => session);
  const requests = parts.map(([session, part]) => [session, prepareRequest(part, session, keys, context)] as const);
  const prepared = eachSends(sessions, isEvent('prepared', segment.number), context, signal);
  for (const [session, request] of requests) context.send(session, request);
  const hops = beginListening(hopsOf(segment), context, signal);
  await prepared;
  await connectHops(hops, context, (connection) => reportConnection(connection, context), signal);
  const ended = eachSends(sessions, isEvent('segment_ended', segment.number), context, signal, true);
  context.begin(segment, signal);
  for (const session of sessions) context.send(session, { op: 'go', segment: segment.number });
  await ended;
}

function hopsOf(segment: Segment): HopLink[] {
  return segment.links.filter((link) => link.kind === 'hop');
}

type Is = (event: AgentEvent) => boolean;

function isEvent(kind: 'prepared' | 'segment_ended', segment: number): Is {
  return (event) => event.event === kind && event.segment === segment;
}

async function eachSends(
  sessions: readonly SessionId[],
  is: Is,
  { bus, losses }: SegmentContext,
  signal: AbortSignal,
  mayLose = false,
): Promise<void> {
  const sends = (session: SessionId) => {
    const sent = bus.next({ session }, (event) => (is(event) ? true : undefined), signal);
    return mayLose ? Promise.race([sent, losses.lost(session)]) : sent;
  };
  await Promise.all(sessions.map(sends));
}
