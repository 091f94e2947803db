/** The `prepare` request to one host: its part of a segment, with keys. */
import { randomBytes } from 'node:crypto';
import { UsageError } from '../model/errors.ts';
import type { PlannedLink, Segment, SessionId } from '../model/plan.ts';
import { type AgentRequest, REQUEST_MAX_BYTES } from '../model/protocol.ts';
import { formatBytes } from '../model/units.ts';
import { agentLinks, agentStages, keyedLinks, type LinkKeys, type OpenSettings } from '../plan/links.ts';

type Prepare = Extract<AgentRequest, { op: 'prepare' }>;

/** The fields that are the same in every `prepare` of a run. */
export type PrepareSettings = Pick<Prepare, 'lenient' | 'lease_ms'> & OpenSettings;

export interface PrepareContext {
  readonly settings: PrepareSettings;
  label(session: SessionId): string;
}

/**
 * One host's part of a segment, as the request to its agent.
 * @throws UsageError when it is longer than an agent takes, because of the sources and patterns of a copy.
 */
export function prepareRequest(
  segment: Segment,
  session: SessionId,
  keys: LinkKeys,
  { label, settings: { lenient, lease_ms, ...open } }: PrepareContext,
): Prepare {
  const request: Prepare = {
    op: 'prepare',
    segment: segment.number,
    lenient,
    lease_ms,
    connect_timeout_ms: open.connect_timeout_ms,
    stages: agentStages(segment, session),
    links: agentLinks(segment, session, keys, open),
  };
  const bytes = Buffer.byteLength(JSON.stringify(request));
  if (bytes > REQUEST_MAX_BYTES) throw tooLong(label(session), bytes);
  return request;
}

function tooLong(host: string, bytes: number): UsageError {
  const sizes = `${formatBytes(bytes)}, at most ${formatBytes(REQUEST_MAX_BYTES)}`;
  return new UsageError(
    `the stages of ${host} are too long for one request (${sizes}): name fewer files and patterns, or list them in a file (rdcp --files-from FILE)`,
  );
}

const KEY_BYTES = 32;

/** A key of its own for every link that native programs carry. */
export function makeKeys(segment: Segment): LinkKeys {
  return new Map(keyedLinks(segment).map((link) => [link, randomBytes(KEY_BYTES).toString('hex')]));
}

/** The sessions that have a part in this segment. */
export function sessionsOf(segment: Segment): SessionId[] {
  const ofStages = segment.stages.map((stage) => stage.session);
  return [...new Set([...ofStages, ...segment.links.flatMap(sessionsOfLink)])];
}

function sessionsOfLink(link: PlannedLink): SessionId[] {
  return link.kind === 'hop' ? [link.from, link.to] : [link.session];
}
