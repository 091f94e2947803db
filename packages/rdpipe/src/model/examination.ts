/** The result of `rdpipe doctor`: findings about hosts and pairs; `--json` prints it. */
import type { Transport } from './protocol.ts';

export type Verdict = 'ok' | 'warn' | 'fail';

export interface Finding {
  /** The subject: `ssh`, `memlock`, `tcp h1→h2`. */
  readonly check: string;
  readonly result: Verdict;
  readonly found: string;
  /** The remedy; null: none is needed. */
  readonly fix: string | null;
}

export interface HostExamination {
  /** As the user wrote it, or `this machine`. */
  readonly host: string;
  readonly checks: readonly Finding[];
}

/** The result of sending data in one direction for a second. */
export interface Measurement {
  readonly from: string;
  readonly to: string;
  readonly transport: Transport;
  readonly bytesPerSecond: number;
  /** Shortest round trip of a message; null: not measured. */
  readonly rttUs: number | null;
  /** The nominal rate of the slower end's port or interface; null: unknown. */
  readonly nominalMbps: number | null;
}

export interface PairExamination {
  readonly hosts: readonly [string, string];
  readonly checks: readonly Finding[];
  readonly measured: readonly Measurement[];
}

export interface Examination {
  readonly v: 1;
  /** 1 if a check failed. */
  readonly status: 0 | 1;
  readonly hosts: readonly HostExamination[];
  readonly pairs: readonly PairExamination[];
}

/** A result of an examination, emitted as soon as it is known. */
export type Found =
  | { readonly kind: 'host'; readonly host: HostExamination }
  | { readonly kind: 'pair'; readonly pair: PairExamination };
