// SPDX-License-Identifier: Apache-2.0
// Runs every case once per round, each round in another order.
// A temporary slowdown of the machine then does not affect only one case, and no case always follows the same one.
import { lots, shuffled } from '../support/sample.ts';
import type { Case } from './case.ts';
import type { Figures } from './figures.ts';

/** The figures of each case, in the order of the rounds. */
export type Results = ReadonlyMap<Case, readonly Figures[]>;

/** The environment in which cases run. */
export interface Ground {
  /** Rejects if a command failed, or moved wrong bytes. */
  runOnce(one: Case): Promise<Figures>;
  /** For a ground that can break on its own: creates a new one, so that the run can be repeated. */
  readonly renew?: () => Promise<void>;
}

export interface Plan {
  readonly ground: Ground;
  readonly cases: readonly Case[];
  readonly rounds: number;
  /** The same seed gives the same orders. */
  readonly seed: number;
}

export interface Outcome {
  readonly results: Results;
  /** The failures of runs that were repeated on a new ground. */
  readonly repeated: readonly string[];
  /** The error that ended the rounds early. */
  readonly failure?: Error;
}

/** Most renewals in one round: if more runs fail, the ground is not the cause. */
const RENEWALS = 3;

export async function runRounds(plan: Plan, say: (line: string) => void): Promise<Outcome> {
  const results = new Map<Case, Figures[]>(plan.cases.map((one) => [one, []]));
  const repeated: string[] = [];
  try {
    await fill(results, plan, repeated, say);
    return { results, repeated };
  } catch (error) {
    return { results, repeated, failure: error as Error };
  }
}

async function fill(
  results: ReadonlyMap<Case, Figures[]>,
  { ground, rounds, seed }: Plan,
  repeated: string[],
  say: (line: string) => void,
): Promise<void> {
  const next = lots(seed);
  for (let round = 1; round <= rounds; round += 1) {
    const before = repeated.length;
    for (const [one, runs] of shuffled([...results], next)) {
      const figures = await runOf(one, ground, async (failure) => {
        if (ground.renew === undefined || repeated.length - before === RENEWALS) throw failure;
        say(`round ${round} of ${rounds}: ${failure.message}; it runs again on a new ground`);
        repeated.push(failure.message);
        await ground.renew();
      });
      runs.push(figures);
      say(`round ${round} of ${rounds}: ${one.name}: ${inWords(figures)}`);
    }
  }
}

/** @param failed throws the error that ends the rounds, or returns to run the case again. */
async function runOf(one: Case, ground: Ground, failed: (failure: Error) => Promise<void>): Promise<Figures> {
  for (;;) {
    try {
      return await ground.runOnce(one);
    } catch (error) {
      await failed(new Error(`${one.name}: ${(error as Error).message}`, { cause: error }));
    }
  }
}

function inWords(figures: Figures): string {
  return Object.entries(figures)
    .map(([name, value]) => `${name} ${value.toPrecision(3)}`)
    .join(', ');
}
