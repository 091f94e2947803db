// SPDX-License-Identifier: Apache-2.0
// Runs every case once a round, each round in another order, so that what slows the machine down for a while does not
// meet one case alone, and none always comes after the same one.
import { lots, shuffled } from '../support/sample.ts';
import type { Case } from './case.ts';
import type { Figures } from './figures.ts';

/** Figures of each case in the order of the rounds. */
export type Results = ReadonlyMap<Case, readonly Figures[]>;

/** Where cases run. */
export interface Ground {
  /** Rejected where a command failed, or moved other bytes than it should. */
  runOnce(one: Case): Promise<Figures>;
}

export interface Plan {
  readonly ground: Ground;
  readonly cases: readonly Case[];
  readonly rounds: number;
  /** The same seed makes the same orders. */
  readonly seed: number;
}

export interface Outcome {
  readonly results: Results;
  /** What ended the rounds early. */
  readonly failure?: Error;
}

export async function runRounds(plan: Plan, say: (line: string) => void): Promise<Outcome> {
  const results = new Map<Case, Figures[]>(plan.cases.map((one) => [one, []]));
  try {
    await fill(results, plan, say);
    return { results };
  } catch (error) {
    return { results, failure: error as Error };
  }
}

async function fill(
  results: ReadonlyMap<Case, Figures[]>,
  { ground, rounds, seed }: Plan,
  say: (line: string) => void,
): Promise<void> {
  const next = lots(seed);
  for (let round = 1; round <= rounds; round += 1) {
    for (const [one, runs] of shuffled([...results], next)) {
      const figures = await ground.runOnce(one).catch((error: Error) => {
        throw new Error(`${one.name}: ${error.message}`, { cause: error });
      });
      runs.push(figures);
      say(`round ${round} of ${rounds}: ${one.name}: ${inWords(figures)}`);
    }
  }
}

function inWords(figures: Figures): string {
  return Object.entries(figures)
    .map(([name, value]) => `${name} ${value.toPrecision(3)}`)
    .join(', ');
}
