/** Samples over time in bounded memory: the longer the run, the coarser. */

export interface Samples<Sample> {
  add(sample: Sample): void;
  /** In order; the newest is always among them. */
  all(): readonly Sample[];
}

/**
 * Samples of running totals, so that leaving some out does not make the others wrong.
 * @param most kept, even.
 * @param apart least seconds between two that are kept, at first.
 */
export function createSamples<Sample extends { readonly at: number }>(most: number, apart: number): Samples<Sample> {
  let kept: Sample[] = [];
  let interval = apart;
  return {
    add(sample) {
      // The newest stands there for as long as it is, and stays when it is far enough from the one before.
      if (distance(kept) < interval) kept.pop();
      kept.push(sample);
      if (kept.length <= most) return;
      interval *= 2;
      kept = kept.filter((_, index) => index % 2 === 0);
    },
    all: () => (distance(kept) < interval / 2 ? [...kept.slice(0, -2), ...kept.slice(-1)] : [...kept]),
  };
}

/** Between the last two, where there are more than these. */
function distance(kept: readonly { readonly at: number }[]): number {
  const [before, last] = kept.slice(-2);
  return kept.length <= 2 || before === undefined || last === undefined
    ? Number.POSITIVE_INFINITY
    : last.at - before.at;
}
