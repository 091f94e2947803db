/** The progress of a copy as a whole, from the events of its programs. */
import type { RunEvent } from '../../model/events.ts';
import type { Plan } from '../../model/plan.ts';
import type { TreeEvent, TreeRole } from '../../model/tree.ts';
import type { HopProgress } from './progress.ts';

/** The sums of a program so far. */
type Totals = Extract<TreeEvent, { event: 'progress' }>;

export interface CopyState {
  /** Found at the source so far. */
  readonly found: { readonly files: number; readonly bytes: number; readonly isAll: boolean };
  /** Done at the target. */
  readonly files: number;
  readonly bytes: number;
  /** To be done, where it is known. */
  readonly wantedBytes: number | undefined;
  readonly same: number;
  readonly bytesPerSecond: number;
  readonly filesPerSecond: number;
  readonly secondsLeft: number | undefined;
  /** The path at hand. */
  readonly path: string;
  /** The link that carries the contents, where it is a hop. */
  readonly hop: HopProgress | undefined;
}

export interface CopyProgress {
  planned(plan: Plan): void;
  tree(event: Extract<RunEvent, { kind: 'tree' }>): void;
  state(): CopyState;
}

/** @param now milliseconds of a clock that never goes back. */
export function createCopyProgress(hops: () => readonly HopProgress[], now: () => number): CopyProgress {
  const totals = new Map<TreeRole, Totals>();
  let link: number | null = null;
  let samples: readonly Sample[] = [];
  return {
    planned(plan) {
      const stages = plan.segments.flatMap((segment) => segment.stages);
      const read = stages.find(({ stage }) => stage.kind === 'tree' && stage.settings.role === 'read');
      link = read?.out ?? null;
    },
    tree({ role, event }) {
      if (event.event !== 'progress') return;
      totals.set(role, event);
      if (role === 'write' || role === 'copy') samples = withSample(samples, { at: now(), ...doneOf(event) });
    },
    state() {
      const hop = hops().find((one) => one.link === link);
      return stateOf(totals, samples, now(), hop);
    },
  };
}

/** Files become permanent in batches: a shorter time shows them in jumps. */
const WINDOW_MS = 5000;

interface Done {
  readonly files: number;
  readonly bytes: number;
}

interface Sample extends Done {
  readonly at: number;
}

/** Contents count when they have come, not only when they are permanent; holes are not sent. */
function doneOf({ files, bytes, sent_bytes, resumed_bytes }: Totals): Done {
  return { files, bytes: Math.max(bytes, sent_bytes + resumed_bytes) };
}

function withSample(samples: readonly Sample[], sample: Sample): readonly Sample[] {
  const recent = samples.filter(({ at }) => sample.at - at <= WINDOW_MS);
  return [...(recent.length > 0 ? recent : samples.slice(-1)), sample];
}

function stateOf(
  totals: ReadonlyMap<TreeRole, Totals>,
  samples: readonly Sample[],
  now: number,
  hop: HopProgress | undefined,
): CopyState {
  const [scan, compare] = [totals.get('scan'), totals.get('compare')];
  const last = totals.get('write') ?? totals.get('copy');
  const { files, bytes } = last === undefined ? { files: 0, bytes: 0 } : doneOf(last);
  const [bytesPerSecond, filesPerSecond] = rates(samples, now);
  const wantedBytes = wanted(scan, compare);
  const left = wantedBytes === undefined || wantedBytes < bytes ? undefined : wantedBytes - bytes;
  return {
    found: { files: scan?.files ?? 0, bytes: scan?.bytes ?? 0, isAll: scan?.done ?? false },
    files,
    bytes,
    wantedBytes,
    same: compare?.same ?? 0,
    bytesPerSecond,
    filesPerSecond,
    secondsLeft: left === undefined || bytesPerSecond === 0 ? undefined : left / bytesPerSecond,
    path: last?.path ?? compare?.path ?? scan?.path ?? '',
    hop,
  };
}

/** All of the source, unless some of it is at the target: then the part that compare passed on. */
function wanted(scan: Totals | undefined, compare: Totals | undefined): number | undefined {
  if (scan?.done !== true) return undefined;
  if ((compare?.same ?? 0) === 0) return scan.bytes;
  return compare?.done === true && compare.sent_bytes > 0 ? compare.sent_bytes : undefined;
}

/** Sums come 4 times a second; only when they stay away does the rate fall with the time since. */
const STALE_MS = 1000;

/** Bytes and files a second. */
function rates(samples: readonly Sample[], now: number): readonly [number, number] {
  const [first, last] = [samples[0], samples.at(-1)];
  if (first === undefined || last === undefined) return [0, 0];
  const end = now - last.at > STALE_MS ? now : last.at;
  const seconds = (end - first.at) / 1000;
  return seconds > 0 ? [(last.bytes - first.bytes) / seconds, (last.files - first.files) / seconds] : [0, 0];
}
