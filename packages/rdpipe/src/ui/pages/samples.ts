/** Samples over time in bounded memory: the longer the run, the fewer per second. */

export interface Samples<Sample> {
  add(sample: Sample): void;
  /** The samples in order; always includes the newest. */
  all(): readonly Sample[];
}

/**
 * Keeps samples of running totals, of which some can be dropped without making the others wrong.
 * @param most the maximum number kept; must be even.
 * @param apart the initial minimum of seconds between two samples.
 */
export function createSamples<Sample extends { readonly at: number }>(most: number, apart: number): Samples<Sample> {
  let kept: Sample[] = [];
  let interval = apart;
  return {
    add(sample) {
      // The newest sample is always kept; the next one replaces it if it is too close to the one before.
      if (distance(kept) < interval) kept.pop();
      kept.push(sample);
      if (kept.length <= most) return;
      interval *= 2;
      kept = kept.filter((_, index) => index % 2 === 0);
    },
    all: () => (distance(kept) < interval / 2 ? [...kept.slice(0, -2), ...kept.slice(-1)] : [...kept]),
  };
}

/** Seconds between the last two samples; infinite if there are no others. */
function distance(kept: readonly { readonly at: number }[]): number {
  const [before, last] = kept.slice(-2);
  return kept.length <= 2 || before === undefined || last === undefined
    ? Number.POSITIVE_INFINITY
    : last.at - before.at;
}
