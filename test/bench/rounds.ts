// SPDX-License-Identifier: Apache-2.0
// Runs every case once a round, so that what slows the machine down for a while does not meet one case alone.
import type { BenchHosts } from './bench-hosts.ts';
import { type Case, HOSTS, type Host, type Part, TARGET } from './case.ts';
import type { Figures } from './figures.ts';
import {
  FORGET_NOTES,
  NOTE_AFTER,
  NOTE_BEFORE,
  readingHere,
  TELL_NOTES,
  type Work,
  workBetween,
} from './processors.ts';

/** Figures of each case in the order of the rounds. */
export type Results = ReadonlyMap<Case, readonly Figures[]>;

export interface Outcome {
  readonly results: Results;
  /** What ended the rounds early. */
  readonly failure?: Error;
}

export async function runRounds(
  hosts: BenchHosts,
  cases: readonly Case[],
  rounds: number,
  say: (line: string) => void,
): Promise<Outcome> {
  const results = new Map<Case, Figures[]>(cases.map((one) => [one, []]));
  try {
    await fill(results, hosts, rounds, say);
    return { results };
  } catch (error) {
    return { results, failure: error as Error };
  }
}

async function fill(
  results: ReadonlyMap<Case, Figures[]>,
  hosts: BenchHosts,
  rounds: number,
  say: (line: string) => void,
): Promise<void> {
  for (let round = 1; round <= rounds; round += 1) {
    for (const [one, runs] of results) {
      const figures = await runOnce(hosts, one);
      runs.push(figures);
      say(`round ${round} of ${rounds}: ${one.name}: ${inWords(figures)}`);
    }
  }
}

async function runOnce(hosts: BenchHosts, { name, parts, read, watched }: Case): Promise<Figures> {
  const allAlong = watched === 'all along';
  await onEach(hosts, `rm -f ${TARGET}; ${allAlong ? NOTE_BEFORE : FORGET_NOTES}`);
  const before = readingHere();
  try {
    const said = await runParts(hosts, parts);
    const here = workBetween(before, readingHere());
    if (allAlong) await onEach(hosts, NOTE_AFTER);
    const works = (await onEach(hosts, TELL_NOTES)).map(workIn);
    return { ...read(said), ...figuresOf(works), busy_here: here.busy };
  } catch (error) {
    throw new Error(`${name}: ${(error as Error).message}`, { cause: error });
  }
}

/** What the last one printed; all of them have ended well. */
async function runParts(hosts: BenchHosts, parts: readonly Part[]): Promise<string> {
  const ends: Promise<string>[] = [];
  for (const { on, command, listens } of parts) {
    const ended = hosts.run(on, command);
    ends.push(ended);
    // One that fails before it listens says why.
    if (listens !== undefined && on !== 'here') await Promise.race([hosts.listens(on, listens), ended]);
  }
  return (await Promise.all(ends)).at(-1) ?? '';
}

function onEach(hosts: BenchHosts, command: string): Promise<string[]> {
  return Promise.all(HOSTS.map((host) => hosts.run(host, command)));
}

/** Undefined: that host had no part in it. */
function workIn(notes: string): Work | undefined {
  const [before, after] = notes.trimEnd().split('\n');
  return before && after ? workBetween(before, after) : undefined;
}

function figuresOf(works: readonly (Work | undefined)[]): Figures {
  const busy = works.flatMap((work, index) => (work === undefined ? [] : [[busyOf(HOSTS[index] ?? 'h1'), work.busy]]));
  const sum = (share: 'userS' | 'sysS') => works.reduce((total, work) => total + (work?.[share] ?? 0), 0);
  return { ...Object.fromEntries(busy), user_s: sum('userS'), sys_s: sum('sysS') };
}

function busyOf(host: Host): 'busy_h1' | 'busy_h2' | 'busy_h3' {
  return `busy_${host}`;
}

function inWords(figures: Figures): string {
  return Object.entries(figures)
    .map(([name, value]) => `${name} ${value.toPrecision(3)}`)
    .join(', ');
}
