/** Finds the hosts of a chain whose output, a disk or a command, delays all others. */
import type { PlannedLink, Segment, SessionId } from '../model/plan.ts';
import type { AgentEvent } from '../model/protocol.ts';

export interface SlowHosts {
  /** Receives an event that arrived at `nowMs` of a monotonic clock. */
  receive(event: AgentEvent, nowMs: number): void;
}

/** A host of a chain whose output is slow, and the kind of the output. */
export interface SlowHost {
  readonly session: SessionId;
  readonly output: 'disk' | 'command';
}

/** How long a host must be slow before it is reported. */
const WINDOW_MS = 10_000;
/** Interval at which all hosts are compared. */
const APART_MS = 500;

/** Calls `onSlow` at most once per host. */
export function createSlowHosts(segment: Segment, onSlow: (host: SlowHost) => void): SlowHosts {
  const chainOf = new Map(segment.links.flatMap(({ number, chain }) => (chain ? [[number, chain.head] as const] : [])));
  const histories = new Map<number, readonly Sample[]>();
  const named = new Set<number>();
  let lookedAtMs = Number.NEGATIVE_INFINITY;
  const look = (head: number, nowMs: number) => {
    const chain = [...histories].filter(([link]) => chainOf.get(link) === head);
    for (const link of slowLinks(new Map(chain.map(([number, samples]) => [number, waitedMs(samples, nowMs)])))) {
      if (named.has(link)) continue;
      named.add(link);
      const host = slowHost(segment, link);
      if (host !== undefined) onSlow(host);
    }
  };
  return {
    receive(event, nowMs) {
      if (event.event !== 'counters' || event.end !== 'recv') return;
      if (!chainOf.has(event.link)) return;
      const history = histories.get(event.link) ?? [];
      histories.set(event.link, [...withinWindow(history, nowMs), { at: nowMs, outputMs: event.output_ms }]);
      if (nowMs - lookedAtMs < APART_MS) return;
      lookedAtMs = nowMs;
      for (const head of new Set(chainOf.values())) look(head, nowMs);
    },
  };
}

/**
 * Returns the links whose receivers waited for their own output for at least half of the window, and more than twice as
 * long as the median of the others: since all get the same stream, their outputs have less than half of the others'
 * rate.
 */
export function slowLinks(waits: ReadonlyMap<number, number | undefined>): readonly number[] {
  const sorted = [...waits.values()].filter((ms) => ms !== undefined).sort((one, other) => one - other);
  const median = sorted[Math.floor((sorted.length - 2) / 2)]; // of the other links, for a link above this median
  if (median === undefined) return [];
  return [...waits].flatMap(([link, ms = 0]) => (ms >= WINDOW_MS / 2 && ms > 2 * median ? [link] : []));
}

interface Sample {
  readonly at: number;
  readonly outputMs: number;
}

/** Returns the samples within the window, and one from before it as the base of measurement. */
function withinWindow(samples: readonly Sample[], nowMs: number): readonly Sample[] {
  const before = samples.filter(({ at }) => nowMs - at >= WINDOW_MS);
  return samples.slice(Math.max(0, before.length - 1));
}

/** Returns the wait within the window; undefined if the samples do not yet cover the window. */
function waitedMs(samples: readonly Sample[], nowMs: number): number | undefined {
  const [first, last] = [samples[0], samples.at(-1)];
  if (first === undefined || last === undefined || nowMs - first.at < WINDOW_MS) return undefined;
  return last.outputMs - first.outputMs;
}

function slowHost({ links, stages }: Segment, number: number): SlowHost | undefined {
  const link = links.find((each) => each.number === number);
  const stage = stages.find(({ in: into }) => into === number)?.stage;
  if (link === undefined || stage === undefined) return undefined;
  return { session: receiverOf(link), output: stage.kind === 'command' ? 'command' : 'disk' };
}

function receiverOf(link: PlannedLink): SessionId {
  return link.kind === 'hop' ? link.to : link.session;
}
