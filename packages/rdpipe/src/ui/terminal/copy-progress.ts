/** The progress of a whole copy, from the events of its programs. */
import type { RunEvent } from '../../model/events.ts';
import type { Plan, PlannedStage } from '../../model/plan.ts';
import { sumOfTotals, type TreeRole, type TreeTotals } from '../../model/tree.ts';
import type { HopProgress } from './progress.ts';

export interface CopyState {
  /** Found at the source so far, times the number of target hosts. */
  readonly found: { readonly files: number; readonly bytes: number; readonly isAll: boolean };
  /** At the target: copied or unchanged. */
  readonly files: number;
  readonly bytes: number;
  /** The unchanged ones among `files`. */
  readonly same: number;
  /** Percentage of bytes, or of files if all are empty; undefined: the scan is not finished. */
  readonly percent: number | undefined;
  /** Rate of copied contents. */
  readonly bytesPerSecond: number;
  /** Rate of all files, copied or unchanged. */
  readonly filesPerSecond: number;
  readonly secondsLeft: number | undefined;
  /** The current path. */
  readonly path: string;
  /** The hop that carries the contents; undefined: they stay on one host. */
  readonly hop: HopProgress | undefined;
}

export interface CopyProgress {
  planned(plan: Plan): void;
  tree(event: Extract<RunEvent, { kind: 'tree' }>): void;
  state(): CopyState;
}

/** Follows a copy. @param now milliseconds of a monotonic clock. */
export function createCopyProgress(hops: () => readonly HopProgress[], now: () => number): CopyProgress {
  const programs = new Map<number, TreeTotals>();
  const totals = new Map<TreeRole, TreeTotals>();
  let link: number | null = null;
  let stages: readonly PlannedStage[] = [];
  let samples: readonly Sample[] = [];
  return {
    planned(plan) {
      stages = plan.segments.flatMap((segment) => segment.stages);
      link = withRole(stages, 'read')[0]?.out ?? null;
    },
    tree({ stage, role, event }) {
      if (event.event !== 'progress') return;
      programs.set(stage, event);
      const sum = sumOfTotals(withRole(stages, role).flatMap(({ stage: { number } }) => programs.get(number) ?? []));
      totals.set(role, sum ?? event);
      if (role !== 'scan' && role !== 'read') samples = withSample(samples, { at: now(), ...doneOf(totals) });
    },
    state() {
      const hop = hops().find((one) => one.link === link);
      return stateOf(totals, samples, now(), hop, Math.max(1, withRole(stages, 'compare').length));
    },
  };
}

type Sums = ReadonlyMap<TreeRole, TreeTotals>;

function withRole(stages: readonly PlannedStage[], role: TreeRole): readonly PlannedStage[] {
  return stages.filter(({ stage }) => stage.kind === 'tree' && stage.settings.role === role);
}

/** The time over which rates are averaged. Files become permanent in batches: a shorter time would show jumps. */
const WINDOW_MS = 5000;

interface Done {
  readonly files: number;
  readonly bytes: number;
  /** The bytes without those of unchanged files. */
  readonly copiedBytes: number;
}

interface Sample extends Done {
  readonly at: number;
}

/** Contents count once they have arrived, even if not yet permanent; holes are not sent. */
function doneOf(totals: Sums): Done {
  const [compare, last] = [totals.get('compare'), lastOf(totals)];
  const { files = 0, bytes = 0, sent_bytes = 0, resumed_bytes = 0 } = last ?? {};
  const copiedBytes = Math.max(bytes, sent_bytes + resumed_bytes);
  return { files: files + (compare?.same_files ?? 0), bytes: copiedBytes + (compare?.same_bytes ?? 0), copiedBytes };
}

function lastOf(totals: Sums): TreeTotals | undefined {
  return totals.get('write') ?? totals.get('copy');
}

function withSample(samples: readonly Sample[], sample: Sample): readonly Sample[] {
  const recent = samples.filter(({ at }) => sample.at - at <= WINDOW_MS);
  return [...(recent.length > 0 ? recent : samples.slice(-1)), sample];
}

function stateOf(
  totals: Sums,
  samples: readonly Sample[],
  now: number,
  hop: HopProgress | undefined,
  width: number,
): CopyState {
  const [scan, compare] = [totals.get('scan'), totals.get('compare')];
  const { files = 0, bytes = 0, done: isAll = false } = scan ?? {};
  const found = { files: files * width, bytes: bytes * width, isAll };
  const done = doneOf(totals);
  const rates = ratesOf(samples, now);
  const unit = found.bytes > 0 ? 'bytes' : 'files';
  const left = found[unit] - done[unit];
  return {
    found,
    files: done.files,
    bytes: done.bytes,
    same: compare?.same_files ?? 0,
    percent: found.isAll && found[unit] > 0 ? percentOf(done[unit], found[unit]) : undefined,
    bytesPerSecond: rates.copiedBytes,
    filesPerSecond: rates.files,
    secondsLeft: found.isAll && left >= 0 && rates[unit] > 0 ? left / rates[unit] : undefined,
    path: lastOf(totals)?.path ?? compare?.path ?? scan?.path ?? '',
    hop,
  };
}

/** Limited to 100: the sums differ if a file grows while it is copied. */
function percentOf(done: number, all: number): number {
  return Math.min(100, Math.floor((done * 100) / all));
}

/** Sums arrive 4 times per second; after this long without any, the rate falls with time. */
const STALE_MS = 1000;

/** Rates per second. */
function ratesOf(samples: readonly Sample[], now: number): Done {
  const [first, last] = [samples[0], samples.at(-1)];
  if (first === undefined || last === undefined) return { files: 0, bytes: 0, copiedBytes: 0 };
  const end = now - last.at > STALE_MS ? now : last.at;
  const seconds = (end - first.at) / 1000;
  const rate = (unit: keyof Done) => (seconds > 0 ? (last[unit] - first[unit]) / seconds : 0);
  return { files: rate('files'), bytes: rate('bytes'), copiedBytes: rate('copiedBytes') };
}
