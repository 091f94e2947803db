/** Checks that an agent's events concern its own part of the plan, in order. Pure. */
import { protectionOf } from '../model/cipher.ts';
import type { Plan, PlannedLink, Segment, SessionId } from '../model/plan.ts';
import type { AgentEvent, LinkEncrypt } from '../model/protocol.ts';
import { partsOf } from '../plan/parts.ts';

/** Returns why an event from this host is invalid; undefined if it is valid. */
export type EventCheck = (session: SessionId, event: AgentEvent) => string | undefined;

/**
 * A host may attack the others. Its events may concern only its own stages and ends; events that happen once may come
 * only once, and in order; the number of errors is limited.
 */
export function createEventCheck(plan: Plan): EventCheck {
  const checks = new Map<SessionId, HostCheck>();
  const parts = plan.segments.map(partsOf);
  return (session, event) => {
    const check = checks.get(session) ?? createHostCheck(partOf(parts, session));
    checks.set(session, check);
    return check(event);
  };
}

type HostCheck = (event: AgentEvent) => string | undefined;

/** One host's part of a plan. */
interface Part {
  /** The permitted subjects of events, with the segment of each. */
  readonly subjects: ReadonlyMap<string, string | undefined>;
  /** The least protection that each hop's data must have. */
  readonly encrypts: ReadonlyMap<number, LinkEncrypt>;
}

function createHostCheck({ subjects, encrypts }: Part): HostCheck {
  const seen = new Set<string>();
  const counts = new Map<string, number>();
  return (event) => {
    const name = event.event;
    const subject = subjectOf(event);
    const fact = subject === undefined ? name : `${name} of ${subject}`;
    if (subject !== undefined && !subjects.has(subject)) return `${fact}, which is not in its part of the plan`;
    if (isTooMany(name, counts)) return `too many ${name} events`;
    if (name === 'parted') seen.delete(`connected of ${subject}`);
    if (!ONCE.has(name)) return undefined;
    if (seen.has(fact)) return `${fact} twice`;
    const before = requiredBefore(name, subject, subjects);
    if (before !== undefined && !seen.has(before)) return `${fact} without ${before}`;
    seen.add(fact);
    const lacks = missingProtection(event, encrypts);
    return lacks === undefined ? undefined : `${fact} without ${lacks}`;
  };
}

function partOf(parts: readonly ReadonlyMap<SessionId, Segment>[], session: SessionId): Part {
  const subjects = new Map<string, string | undefined>();
  const encrypts = new Map<number, LinkEncrypt>();
  for (const { number, stages, links } of parts.flatMap((segment) => segment.get(session) ?? [])) {
    const segment = `segment ${number}`;
    const own = stages.map(({ stage }) => `stage ${stage.number}`);
    const ends = links.flatMap((link) => endsOf(link, session));
    const shown = links.flatMap((link) => outputOf(link, session));
    for (const subject of [...own, ...ends, ...shown]) subjects.set(subject, segment);
    subjects.set(segment, undefined);
    for (const link of links) if (link.kind === 'hop') encrypts.set(link.number, link.open.encrypt);
  }
  return { subjects, encrypts };
}

function endsOf(link: PlannedLink, session: SessionId): string[] {
  const ends = {
    send: link.kind === 'hop' ? link.from : link.session,
    recv: link.kind === 'hop' ? link.to : link.session,
  };
  if (link.kind !== 'hop' && link.kind !== 'local') return [];
  return (['send', 'recv'] as const).filter((end) => ends[end] === session).map((end) => nameOfEnd(link.number, end));
}

/** Names the user's standard output, if it is on this session's machine. */
function outputOf(link: PlannedLink, session: SessionId): string[] {
  const at = link.kind === 'hop' ? link.to : link.session;
  const isUsers = (link.kind === 'hop' || link.kind === 'local') && link.sink === 'stdout';
  return isUsers && at === session ? [nameOfOutput(link.number)] : [];
}

function nameOfEnd(link: number, end: string): string {
  return `link ${link} (${end})`;
}

function nameOfOutput(link: number): string {
  return `link ${link} (standard output)`;
}

/** Returns the subject of an event; undefined if it has none. */
function subjectOf(event: AgentEvent): string | undefined {
  if (event.event === 'size') return nameOfEnd(event.link, 'send');
  if (event.event === 'output') return nameOfOutput(event.link);
  if ('end' in event) return nameOfEnd(event.link, event.end);
  if ('segment' in event) return `segment ${event.segment}`;
  return 'stage' in event && event.stage !== null ? `stage ${event.stage}` : undefined;
}

const ONCE: ReadonlySet<string> = new Set([
  'prepared',
  'connected',
  'started',
  'output',
  'closed',
  'exited',
  'link_ended',
  'segment_ended',
  'ended',
]);

/** Returns the event that must come before this one. A stage starts only in a segment that was prepared. */
function requiredBefore(name: string, subject: string | undefined, subjects: Part['subjects']): string | undefined {
  switch (name) {
    case 'started':
      return `prepared of ${subjects.get(subject ?? '')}`;
    case 'exited':
      return `started of ${subject}`;
    case 'segment_ended':
      return `prepared of ${subject}`;
    default:
      return undefined;
  }
}

/** Limits far above what a correct agent sends. */
const MOST: Readonly<Record<string, number>> = { failed: 100, left_behind: 100, parted: 10_000, written: 1000 };

function isTooMany(name: string, counts: Map<string, number>): boolean {
  const most = MOST[name];
  if (most === undefined) return false;
  const count = (counts.get(name) ?? 0) + 1;
  counts.set(name, count);
  return count > most;
}

/**
 * `auth` requires authentication or encryption, `always` encryption, `tcp` authentication over RDMA and encryption over
 * TCP.
 */
function missingProtection(event: AgentEvent, encrypts: Part['encrypts']): 'encryption' | 'authentication' | undefined {
  if (event.event !== 'connected') return undefined;
  const wanted = encrypts.get(event.link) ?? 'never';
  const encrypt = wanted === 'tcp' ? (event.transport === 'rdma' ? 'auth' : 'always') : wanted;
  const protection = protectionOf(event.cipher);
  if (encrypt === 'always' && protection !== 'seal') return 'encryption';
  return encrypt === 'auth' && protection === 'none' ? 'authentication' : undefined;
}
