/** The progress of each hop, from the events of a run: bytes, rate, bottleneck, time left. */
import {
  chainWaits,
  hopWaits,
  longestWait,
  NO_WAITS,
  type Waits,
  type WaitsFor,
  waitsSince,
} from '../../model/counters.ts';
import type { RunEvent } from '../../model/events.ts';
import { exitOutcome, okStatuses } from '../../model/pipeline.ts';
import { linkGroups } from '../../model/places.ts';
import type { Plan, PlannedLink } from '../../model/plan.ts';
import type { HopEnd } from '../../model/protocol.ts';

/** `failed`: a command failed there, and the others continue. */
export type HostState = 'running' | 'failed' | 'lost';

export interface HopProgress {
  readonly link: number;
  /** Hops to or from the hosts of one stage have the same number. */
  readonly group: number;
  /** `h1→h2`. */
  readonly name: string;
  readonly from: string;
  readonly to: string;
  /** That of its two hosts which the other hops of the group do not have. */
  readonly host: string;
  readonly state: HostState;
  readonly bytes: number;
  /** The level of compression; 0: not compressed. */
  readonly compress: number;
  readonly wireBytes: number;
  readonly bytesPerSecond: number;
  readonly waitsFor: WaitsFor | undefined;
  /** The connection broke and is not yet replaced. */
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
  /** The run continues without this host. */
  lost(host: string): void;
  exited(event: Extract<RunEvent, { kind: 'stage_exited' }>): void;
  /** The hops of the running segment, in the order of the data. */
  hops(): readonly HopProgress[];
}

/** Follows a run. @param now milliseconds of a monotonic clock. */
export function createProgress(expectedBytes: number | undefined, now: () => number): Progress {
  let plan: Plan | undefined;
  let counted: ReadonlyMap<number, CountedHop> = new Map();
  // Files are opened while a segment is prepared, so their sizes arrive before it starts.
  const sizes = new Map<number, number>();
  const states = new Map<string, HostState>();
  return {
    planned(made) {
      plan = made;
    },
    segmentStarted(number) {
      const hops = plan === undefined ? [] : startCounting(plan, number, expectedBytes);
      counted = new Map(hops.map((hop) => [hop.link, hop]));
    },
    sizeKnown({ link, bytes }) {
      sizes.set(link, bytes);
    },
    counted(event) {
      const hop = counted.get(event.link);
      if (hop !== undefined) take(hop, event, now());
    },
    broke: ({ link, end }) => void counted.get(link)?.broken.add(end),
    resumed: ({ link, end }) => void counted.get(link)?.broken.delete(end),
    lost: (host) => void states.set(host, 'lost'),
    exited(event) {
      if (hasFailed(event, plan) && !states.has(event.host)) states.set(event.host, 'failed');
    },
    hops() {
      const hops = [...counted.values()];
      const waits = waitsOf(hops);
      return hops.map((hop) => {
        const size = sizes.get(hop.link) ?? sizes.get(hop.head) ?? hop.expected;
        const state = states.get(hop.host) ?? 'running';
        return { ...progressOf(hop, waits.get(hop) ?? NO_WAITS, size, now()), state };
      });
    },
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
  readonly group: number;
  /** The first link of the hop's chain, or its own link. */
  readonly head: number;
  readonly name: string;
  readonly from: string;
  readonly to: string;
  readonly host: string;
  readonly expected: number | undefined;
  readonly compress: number;
  bytes: number;
  wireBytes: number;
  samples: readonly Sample[];
  /** The ends without a connection. */
  readonly broken: Set<HopEnd>;
  /** Milliseconds waited so far, and since the last counters. */
  waits: WaitsOfEnds;
  recent: WaitsOfEnds;
}

function startCounting(plan: Plan, segment: number, expectedBytes: number | undefined): readonly CountedHop[] {
  const names = new Map(plan.sessions.map(({ id, label }) => [id, label]));
  const planned = plan.segments.find(({ number }) => number === segment);
  const groups = planned === undefined ? [] : linkGroups(planned);
  const hops = groups.flatMap((links, group) => {
    const carried = links.filter(isCarried).map((link) => ({ link, group, ...endsOf(link, names) }));
    const isGathered = carried.length > 1 && carried.every(({ to }) => to === carried[0]?.to);
    return carried.map((hop) => ({ ...hop, host: isGathered ? hop.from : hop.to }));
  });
  return hops.map(({ link, group, from, to, host }, index) => ({
    link: link.number,
    group,
    head: link.chain?.head ?? link.number,
    name: nameOf(link, names),
    ...{ from, to, host },
    expected: (index === 0 || link.chain?.head === hops[0]?.link.number) && segment === 1 ? expectedBytes : undefined,
    compress: link.kind === 'hop' ? link.open.compress : 0,
    bytes: 0,
    wireBytes: 0,
    samples: [],
    broken: new Set(),
    waits: NO_WAITS_OF_ENDS,
    recent: NO_WAITS_OF_ENDS,
  }));
}

function hasFailed(exited: Extract<RunEvent, { kind: 'stage_exited' }>, plan?: Plan): boolean {
  const stages = plan?.segments.flatMap((segment) => segment.stages) ?? [];
  const planned = stages.find(({ stage: { number } }) => number === exited.stage);
  const ok = planned && okStatuses(planned.stage);
  return exitOutcome(exited, ok ?? [0]) === 'failed';
}

function isCarried(link: PlannedLink): boolean {
  return link.kind === 'hop' || link.kind === 'local';
}

function endsOf(
  link: PlannedLink,
  labels: ReadonlyMap<string, string>,
): { readonly from: string; readonly to: string } {
  const name = (session: string) => labels.get(session) ?? session;
  return link.kind === 'hop'
    ? { from: name(link.from), to: name(link.to) }
    : { from: name(link.session), to: name(link.session) };
}

function nameOf(link: PlannedLink, labels: ReadonlyMap<string, string>): string {
  const { from, to } = endsOf(link, labels);
  return link.kind === 'hop' ? `${from}→${to}` : `within ${to}`;
}

/** The waits between the last two counters of each end. */
function waitsOf(counted: readonly CountedHop[]): ReadonlyMap<CountedHop, Waits> {
  const waits = new Map(counted.map((hop) => [hop, hopWaits(hop.recent.send, hop.recent.recv)]));
  const chains = new Map<number, CountedHop[]>();
  for (const hop of counted) {
    const chain = chains.get(hop.head);
    if (chain === undefined) chains.set(hop.head, [hop]);
    else chain.push(hop);
  }
  for (const chain of chains.values()) {
    const own = chainWaits(chain.map((hop) => waits.get(hop) ?? NO_WAITS));
    chain.forEach((hop, index) => {
      waits.set(hop, own[index] ?? NO_WAITS);
    });
  }
  return waits;
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

/** Shorter waits are normal. */
const NOTICEABLE_MS = 50;

function progressOf(hop: CountedHop, waits: Waits, size: number | undefined, now: number): Omit<HopProgress, 'state'> {
  const { link, group, name, from, to, host, bytes, compress, wireBytes, broken } = hop;
  const bytesPerSecond = rateOf(hop, now);
  const left = size === undefined || size < bytes || bytesPerSecond === 0 ? undefined : (size - bytes) / bytesPerSecond;
  const waitsFor = longestWait(waits, NOTICEABLE_MS);
  const reconnecting = broken.size > 0;
  const names = { link, group, name, from, to, host };
  return { ...names, bytes, compress, wireBytes, bytesPerSecond, waitsFor, reconnecting, size, secondsLeft: left };
}

/** Counters arrive 4 times per second; after this long without any, the rate falls with time. */
const STALE_MS = 1000;

function rateOf({ samples }: CountedHop, now: number): number {
  const [first, last] = [samples[0], samples.at(-1)];
  if (first === undefined || last === undefined) return 0;
  const end = now - last.at > STALE_MS ? now : last.at;
  return end > first.at ? ((last.bytes - first.bytes) * 1000) / (end - first.at) : 0;
}
