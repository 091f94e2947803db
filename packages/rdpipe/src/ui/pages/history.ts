/** The history of a run for its page, in bounded memory. */
import { NO_WAITS, type Waits, waitsSince } from '../../model/counters.ts';
import type { RunEvent } from '../../model/events.ts';
import type { Plan } from '../../model/plan.ts';
import { dispatch, type EventHandlers } from '../renderer.ts';
import { createSamples, type Samples } from './samples.ts';

/** Totals since the hop began: bytes that arrived, and waits of its ends. */
export interface HopSample {
  /** Seconds since the run began. */
  readonly at: number;
  readonly bytes: number;
  readonly wireBytes: number;
  readonly send: Waits;
  readonly recv: Waits;
}

export interface HopHistory {
  readonly link: number;
  readonly samples: readonly HopSample[];
  /** Seconds at which the connection broke; only the first 100. */
  readonly broken: readonly number[];
}

export interface StageStderrHistory {
  readonly stage: number;
  readonly host: string;
  /** The last bytes of the output, at most 8 KiB. */
  readonly tail: Uint8Array;
  readonly bytes: number;
}

export interface History {
  readonly plan: Plan | undefined;
  readonly hops: readonly HopHistory[];
  readonly stderr: readonly StageStderrHistory[];
  readonly warnings: readonly string[];
}

export interface HistoryKeeper {
  handle(event: RunEvent): void;
  history(): History;
}

/** Keeps the history of a run's events. @param now milliseconds of a monotonic clock. */
export function createHistoryKeeper(now: () => number): HistoryKeeper {
  const beganMs = now();
  const seconds = () => (now() - beganMs) / 1000;
  const hops = new Map<number, KeptHop>();
  const stderr = new Map<number, StageStderrHistory>();
  const warnings: string[] = [];
  const warn = (message: string) => {
    if (warnings.length < WARNINGS_MAX) warnings.push(message);
  };
  let plan: Plan | undefined;
  const hop = (link: number) => {
    const kept = hops.get(link) ?? keepHop(seconds());
    hops.set(link, kept);
    return kept;
  };
  const handlers: Partial<EventHandlers> = {
    planned: (event) => {
      plan = event.plan;
    },
    segment_started({ segment }) {
      const links = plan?.segments.find(({ number }) => number === segment)?.links ?? [];
      for (const { kind, number } of links) if (kind === 'hop' || kind === 'local') hop(number);
    },
    hop_connected: ({ link }) => void hop(link),
    counters: (event) => count(hop(event.link), event, seconds()),
    hop_broken({ link }) {
      const { broken } = hop(link);
      if (broken.length < BREAKS_MAX) broken.push(seconds());
    },
    stderr({ stage, host, data }) {
      const before = stderr.get(stage);
      const tail = Buffer.concat([before?.tail ?? Buffer.of(), data]).subarray(-STDERR_MAX_BYTES);
      // A copy: a view would keep its whole buffer in memory, which may be node's pool.
      stderr.set(stage, { stage, host, tail: new Uint8Array(tail), bytes: (before?.bytes ?? 0) + data.length });
    },
    warning: ({ message }) => warn(message),
    host_lost: ({ message }) => warn(message),
    host_slow: ({ message }) => warn(message),
  };
  return {
    handle: (event) => dispatch(handlers, event),
    history: () => ({
      plan,
      hops: [...hops].map(([link, { samples, broken }]) => ({ link, samples: samples.all(), broken })),
      stderr: [...stderr.values()],
      warnings,
    }),
  };
}

const SAMPLES_MAX = 600;
/** Counters arrive 4 times per second. */
const SAMPLES_APART_S = 0.2;
const BREAKS_MAX = 100;
const STDERR_MAX_BYTES = 8192;
const WARNINGS_MAX = 100;

interface KeptHop {
  readonly samples: Samples<HopSample>;
  readonly broken: number[];
  /** The last waits that the sender reported. */
  send: Waits;
}

function keepHop(at: number): KeptHop {
  const samples = createSamples<HopSample>(SAMPLES_MAX, SAMPLES_APART_S);
  samples.add({ at, bytes: 0, wireBytes: 0, send: NO_WAITS, recv: NO_WAITS });
  return { samples, broken: [], send: NO_WAITS };
}

function count(hop: KeptHop, event: Extract<RunEvent, { kind: 'counters' }>, at: number): void {
  const { end, bytes, wireBytes } = event;
  const waits = waitsSince(NO_WAITS, event);
  if (end === 'send') hop.send = waits;
  else hop.samples.add({ at, bytes, wireBytes, send: hop.send, recv: waits });
}
