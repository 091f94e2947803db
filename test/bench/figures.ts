// SPDX-License-Identifier: Apache-2.0
// The figures of a run, and the statistics of several runs.

/**
 * Rates in MB/s (10^6), times in seconds, milliseconds or microseconds; `busy` and `others`: shares of the processors'
 * time; `gib_per_core_s`: GiB over all hops per second of one core.
 */
export type Figure =
  | 'mb_per_s'
  | 'cpu_s_per_gib'
  | 'receiver_s_per_gib'
  | 'max_rss_mib'
  | 'native_rss_mib'
  | 'half_trip_us'
  | 'median_us'
  | 'most_us'
  | 'trips_per_s'
  | 'wall_s'
  | 'cpu_s'
  | 'first_byte_s'
  | 'run_ms'
  | 'gib_per_core_s'
  | 'user_s'
  | 'sys_s'
  | 'others'
  | 'busy_h1'
  | 'busy_h2'
  | 'busy_h3'
  | 'busy_here';

export type Figures = Readonly<Partial<Record<Figure, number>>>;

export interface Spread {
  readonly median: number;
  readonly least: number;
  readonly most: number;
}

/** `numbers` must not be empty. */
export function spreadOf(numbers: readonly number[]): Spread {
  const sorted = numbers.toSorted((left, right) => left - right);
  const at = (index: number) => sorted[index] ?? Number.NaN;
  const last = sorted.length - 1;
  return { median: (at(Math.floor(last / 2)) + at(Math.ceil(last / 2))) / 2, least: at(0), most: at(last) };
}

/** Ratios of runs in the same round, as a temporary slowdown of the machine affects both. */
export function ratios(figures: readonly number[], bases: readonly number[]): number[] {
  return figures.map((figure, round) => figure / (bases[round] ?? Number.NaN));
}
