/** What moves through every hop, from the events of a run: bytes, rate, what it waits for, how long it will take. */
import type { RunEvent } from '../model/events.ts';
import type { Plan, PlannedLink } from '../model/plan.ts';
import type { HopEnd } from '../model/protocol.ts';

export interface HopProgress {
  readonly link: number;
  /** `h1→h2`. */
  readonly name: string;
  readonly bytes: number;
  readonly bytesPerSecond: number;
  readonly waitsFor: 'input' | 'limit' | 'wire' | 'output' | undefined;
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
  let counted: readonly Counted[] = [];
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

/** How far back rate and waiting look. */
const WINDOW_MS = 3000;

interface Sample {
  readonly at: number;
  readonly bytes: number;
}

interface Waits {
  readonly input: number;
  readonly limit: number;
  readonly wire: number;
  readonly output: number;
}

const NO_WAITS: Waits = { input: 0, limit: 0, wire: 0, output: 0 };

interface Counted {
  readonly link: number;
  readonly name: string;
  readonly expected: number | undefined;
  bytes: number;
  samples: readonly Sample[];
  /** Its ends that are without a connection. */
  readonly broken: Set<HopEnd>;
  /** Milliseconds waited so far, and those at the last look. */
  waits: Waits;
  recent: Waits;
}

function startCounting(plan: Plan, segment: number, expectedBytes: number | undefined): readonly Counted[] {
  const names = new Map(plan.sessions.map(({ id, label }) => [id, label]));
  const links = plan.segments.find(({ number }) => number === segment)?.links ?? [];
  const hops = links.filter((link) => link.kind === 'hop' || link.kind === 'local');
  return hops.map((link, index) => ({
    link: link.number,
    name: nameOf(link, names),
    expected: index === 0 && segment === 1 ? expectedBytes : undefined,
    bytes: 0,
    samples: [],
    broken: new Set(),
    waits: NO_WAITS,
    recent: NO_WAITS,
  }));
}

function nameOf(link: PlannedLink, labels: ReadonlyMap<string, string>): string {
  const name = (session: string) => labels.get(session) ?? session;
  return link.kind === 'hop' ? `${name(link.from)}→${name(link.to)}` : `within ${name(link.session)}`;
}

/** The sender knows what it waits for before the wire, the receiver what it waits for behind it. */
function take(hop: Counted, event: Extract<RunEvent, { kind: 'counters' }>, at: number): void {
  if (event.end === 'send') {
    note(hop, 'input', event.inputMs);
    note(hop, 'limit', event.limitMs);
    note(hop, 'wire', event.wireMs);
    return;
  }
  note(hop, 'output', event.outputMs);
  hop.bytes = Math.max(hop.bytes, event.bytes);
  const recent = hop.samples.filter((sample) => at - sample.at <= WINDOW_MS);
  hop.samples = [...(recent.length > 0 ? recent : hop.samples.slice(-1)), { at, bytes: hop.bytes }];
}

function note(hop: Counted, what: keyof Waits, milliseconds: number): void {
  hop.recent = { ...hop.recent, [what]: milliseconds - hop.waits[what] };
  hop.waits = { ...hop.waits, [what]: milliseconds };
}

function progressOf(hop: Counted, size: number | undefined, now: number): HopProgress {
  const { link, name, bytes, broken } = hop;
  const bytesPerSecond = rateOf(hop, now);
  const left = size === undefined || size < bytes || bytesPerSecond === 0 ? undefined : (size - bytes) / bytesPerSecond;
  const waitsFor = longest(hop.recent);
  return { link, name, bytes, bytesPerSecond, waitsFor, reconnecting: broken.size > 0, size, secondsLeft: left };
}

/** Counters come 4 times a second; only when they stay away does the rate fall with the time since. */
const STALE_MS = 1000;

function rateOf({ samples }: Counted, now: number): number {
  const [first, last] = [samples[0], samples.at(-1)];
  if (first === undefined || last === undefined) return 0;
  const end = now - last.at > STALE_MS ? now : last.at;
  return end > first.at ? ((last.bytes - first.bytes) * 1000) / (end - first.at) : 0;
}

/** Shorter waits are ordinary. */
const NOTICEABLE_MS = 50;

/** A sender that waits for the wire while its receiver waits for its output waits for that output. */
function longest({ input, limit, wire, output }: Waits): HopProgress['waitsFor'] {
  const waits = { input, limit, wire: wire - output, output };
  const kinds = ['input', 'limit', 'wire', 'output'] as const;
  const most = kinds.reduce((best, kind) => (waits[kind] > waits[best] ? kind : best));
  return waits[most] >= NOTICEABLE_MS ? most : undefined;
}
