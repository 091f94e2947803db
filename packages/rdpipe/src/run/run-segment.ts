/** Runs one segment: prepare, connect, go, until every host has ended it. */
import type { Emit } from '../model/events.ts';
import type { HopLink, Segment, SessionId } from '../model/plan.ts';
import type { AgentEvent } from '../model/protocol.ts';
import { beginListening, connectHops, type HopContext } from './connect-hops.ts';
import type { HopConnection } from './hop-connection.ts';
import { connectedBy, notesOf } from './hop-messages.ts';
import { makeKeys, type PrepareSettings, prepareRequest, sessionsOf } from './prepare-request.ts';

/** The services of the run that a segment uses. */
export interface SegmentContext extends HopContext {
  readonly settings: PrepareSettings;
  readonly emit: Emit;
  begin(segment: Segment): void;
  note(link: number, text: string): void;
}

/**
 * Runs one segment to its end: everything is opened and connected before any command starts. A segment that failed ends
 * too: failures are the run's business, which aborts `signal`.
 */
export async function runSegment(segment: Segment, context: SegmentContext, signal: AbortSignal): Promise<void> {
  const sessions = sessionsOf(segment);
  const keys = makeKeys(segment);
  const requests = sessions.map((session) => [session, prepareRequest(segment, session, keys, context)] as const);
  const prepared = eachSends(sessions, isEvent('prepared', segment.number), context, signal);
  for (const [session, request] of requests) context.send(session, request);
  const hops = beginListening(hopsOf(segment), context, signal);
  await prepared;
  await connectHops(hops, context, (connection) => reportConnection(connection, context), signal);
  const ended = eachSends(sessions, isEvent('segment_ended', segment.number), context, signal);
  context.begin(segment);
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
  { bus }: SegmentContext,
  signal: AbortSignal,
): Promise<void> {
  const sends = (session: SessionId) =>
    bus.next((from, event) => (from === session && is(event) ? true : undefined), signal);
  await Promise.all(sessions.map(sends));
}

function reportConnection(connection: HopConnection, { emit, note }: SegmentContext): void {
  const { hop, ends } = connection;
  const { transport, cipher } = ends.send;
  for (const text of notesOf(connection)) note(hop.number, text);
  emit({ kind: 'hop_connected', link: hop.number, transport, cipher, way: connectedBy(connection) });
}
