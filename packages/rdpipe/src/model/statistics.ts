/** The median and the range of repeated measurements. */

export interface Spread {
  readonly median: number;
  readonly low: number;
  readonly high: number;
}

/** The spread of `values`; undefined if there are none. */
export function spreadOf(values: readonly number[]): Spread | undefined {
  const sorted = [...values].sort((one, other) => one - other);
  const [low, high] = [sorted[0], sorted.at(-1)];
  if (low === undefined || high === undefined) return undefined;
  const upper = sorted[sorted.length >> 1] ?? low;
  const lower = sorted[(sorted.length - 1) >> 1] ?? low;
  return { median: (lower + upper) / 2, low, high };
}
