// SPDX-License-Identifier: Apache-2.0
// Draws a sample of a matrix that is too large for `npm test`.
// Prints the random seed; RDPIPE_TEST_SEED=SEED repeats the sample.
import { randomInt } from 'node:crypto';

const SEEDS = 2 ** 32;

let seedOfThisProcess: number | undefined;

/** `count` different cells, or all if there are fewer, in the order of the matrix. */
export function sample<Cell>(cells: readonly Cell[], count: number): Cell[] {
  return draw(cells, count, processSeed());
}

/** The seed of this process, printed at the first call. */
export function processSeed(): number {
  seedOfThisProcess ??= announce(chooseSeed(process.env.RDPIPE_TEST_SEED));
  return seedOfThisProcess;
}

/** Odd, because the signals of cells alternate. */
const STEP = 7;

/** For `test/full`: every seventh cell of the kill matrix; RDPIPE_KILL_STEP=1 takes all. */
export function everyFew<Cell>(cells: readonly Cell[]): Cell[] {
  const step = Number(process.env.RDPIPE_KILL_STEP ?? STEP);
  return cells.filter((_cell, place) => place % step === 0);
}

/** A sample that depends only on the seed, not on previous draws. */
export function draw<Cell>(cells: readonly Cell[], count: number, seed: number): Cell[] {
  const places = cells.map((cell, place) => ({ cell, place }));
  return shuffled(places, lots(seed))
    .slice(0, count)
    .sort((left, right) => left.place - right.place)
    .map(({ cell }) => cell);
}

/** The items in random order; `next` returns random numbers. */
export function shuffled<Item>(items: readonly Item[], next: () => number): Item[] {
  const drawn = items.map((item, place) => ({ item, place, lot: next() }));
  drawn.sort((left, right) => left.lot - right.lot || left.place - right.place);
  return drawn.map(({ item }) => item);
}

function chooseSeed(given: string | undefined): number {
  if (given === undefined) return randomInt(SEEDS);
  if (!/^\d+$/.test(given)) throw new Error(`RDPIPE_TEST_SEED is not a number: ${given}`);
  return Number(given) % SEEDS;
}

function announce(seed: number): number {
  console.log(`  sample drawn with RDPIPE_TEST_SEED=${seed}`);
  return seed;
}

/** Pseudo-random numbers: Marsaglia's xorshift with 32 bits, whose state must not be 0. */
export function lots(seed: number): () => number {
  let state = (seed ^ 0x9e3779b9) >>> 0 || 1;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state = (state ^ (state << 5)) >>> 0;
    return state;
  };
}
