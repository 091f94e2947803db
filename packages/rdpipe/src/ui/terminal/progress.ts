/** The progress of each hop, from the events of a run: bytes, rate, bottleneck, time left. */
import { hopWaits, longestWait, NO_WAITS, type Waits, type WaitsFor, waitsSince } from '../../model/counters.ts';
import type { RunEvent } from '../../model/events.ts';
import type { Plan, PlannedLink } from '../../model/plan.ts';
import type { HopEnd } from '../../model/protocol.ts';

export interface HopProgress {
  readonly link: number;
  /** `h1→h2`. */
  readonly name: string;
  readonly bytes: number;
  /** Level; 0: not compressed. */
  readonly compress: number;
  readonly wireBytes: number;
  readonly bytesPerSecond: number;
  readonly waitsFor: WaitsFor | undefined;
  /** Its connection broke, and there is no new one yet. */
  readonly reconnecting: boolean;
  readonly size: number | undefined;
  readonly secondsLeft: number | undefined;
}

export interface Progress {
  planned(plan: Plan): void;
  segmentStarted(segment: number): void;
  sizeKnown(event: Extract<RunEvent, { kind: 'size' }>): void;
  counted(event: Extract<RunEvent, { kind: 'counters' }>): void;
  broke(event: Extract<RunEvent, { kind: 'hop_broken' }>): void;
  resumed(event: Extract<RunEvent, { kind: 'hop_resumed' }>): void;
  /** The hops of the segment that runs, in the order of the data. */
  hops(): readonly HopProgress[];
}

/** @param now milliseconds of a clock that never goes back. */
export function createProgress(expectedBytes: number | undefined, now: () => number): Progress {
  let plan: Plan | undefined;
  let counted: readonly CountedHop[] = [];
  // Files are opened while a segment is prepared, so their sizes come before it starts.
  const sizes = new Map<number, number>();
  const find = (number: number) => counted.find(({ link }) => link === number);
  return {
    planned(made) {
      plan = made;
    },
    segmentStarted(number) {
      counted = plan === undefined ? [] : startCounting(plan, number, expectedBytes);
    },
    sizeKnown({ link, bytes }) {
      sizes.set(link, bytes);
    },
    counted(event) {
      const hop = find(event.link);
      if (hop !== undefined) take(hop, event, now());
    },
    broke: ({ link, end }) => void find(link)?.broken.add(end),
    resumed: ({ link, end }) => void find(link)?.broken.delete(end),
    hops: () => counted.map((hop) => progressOf(hop, sizes.get(hop.link) ?? hop.expected, now())),
  };
}

/** The time over which rate and waits are averaged. */
const WINDOW_MS = 3000;

interface Sample {
  readonly at: number;
  readonly bytes: number;
}

type WaitsOfEnds = Readonly<Record<HopEnd, Waits>>;

const NO_WAITS_OF_ENDS: WaitsOfEnds = { send: NO_WAITS, recv: NO_WAITS };

interface CountedHop {
  readonly link: number;
  readonly name: string;
  readonly expected: number | undefined;
  readonly compress: number;
  bytes: number;
  wireBytes: number;
  samples: readonly Sample[];
  /** Its ends that are without a connection. */
  readonly broken: Set<HopEnd>;
  /** Milliseconds waited so far, and since the last counters. */
  waits: WaitsOfEnds;
  recent: WaitsOfEnds;
}

function startCounting(plan: Plan, segment: number, expectedBytes: number | undefined): readonly CountedHop[] {
  const names = new Map(plan.sessions.map(({ id, label }) => [id, label]));
  const links = plan.segments.find(({ number }) => number === segment)?.links ?? [];
  const hops = links.filter((link) => link.kind === 'hop' || link.kind === 'local');
  return hops.map((link, index) => ({
    link: link.number,
    name: nameOf(link, names),
    expected: index === 0 && segment === 1 ? expectedBytes : undefined,
    compress: link.kind === 'hop' ? link.compress : 0,
    bytes: 0,
    wireBytes: 0,
    samples: [],
    broken: new Set(),
    waits: NO_WAITS_OF_ENDS,
    recent: NO_WAITS_OF_ENDS,
  }));
}

function nameOf(link: PlannedLink, labels: ReadonlyMap<string, string>): string {
  const name = (session: string) => labels.get(session) ?? session;
  return link.kind === 'hop' ? `${name(link.from)}→${name(link.to)}` : `within ${name(link.session)}`;
}

function take(hop: CountedHop, event: Extract<RunEvent, { kind: 'counters' }>, at: number): void {
  const { end } = event;
  hop.recent = { ...hop.recent, [end]: waitsSince(hop.waits[end], event) };
  hop.waits = { ...hop.waits, [end]: event };
  if (end === 'send') return;
  hop.bytes = Math.max(hop.bytes, event.bytes);
  hop.wireBytes = event.wireBytes;
  const recent = hop.samples.filter((sample) => at - sample.at <= WINDOW_MS);
  hop.samples = [...(recent.length > 0 ? recent : hop.samples.slice(-1)), { at, bytes: hop.bytes }];
}

/** Shorter waits are ordinary. */
const NOTICEABLE_MS = 50;

function progressOf(hop: CountedHop, size: number | undefined, now: number): HopProgress {
  const { link, name, bytes, compress, wireBytes, recent, broken } = hop;
  const bytesPerSecond = rateOf(hop, now);
  const left = size === undefined || size < bytes || bytesPerSecond === 0 ? undefined : (size - bytes) / bytesPerSecond;
  const waitsFor = longestWait(hopWaits(recent.send, recent.recv), NOTICEABLE_MS);
  const reconnecting = broken.size > 0;
  return { link, name, bytes, compress, wireBytes, bytesPerSecond, waitsFor, reconnecting, size, secondsLeft: left };
}

/** Counters come 4 times a second; only when they stay away does the rate fall with the time since. */
const STALE_MS = 1000;

function rateOf({ samples }: CountedHop, now: number): number {
  const [first, last] = [samples[0], samples.at(-1)];
  if (first === undefined || last === undefined) return 0;
  const end = now - last.at > STALE_MS ? now : last.at;
  return end > first.at ? ((last.bytes - first.bytes) * 1000) / (end - first.at) : 0;
}
