// SPDX-License-Identifier: Apache-2.0
// `npm run bench`: runs all cases in interleaved rounds and prints Markdown tables.
// The cases run on loopback, in the lab, or both.
import { writeFileSync } from 'node:fs';
import { loadavg } from 'node:os';
import { join } from 'node:path';
import { whatLinkRatesLack } from '../support/link-rate.ts';
import { whatRailsLack } from '../support/rails.ts';
import { ROOT } from '../support/root.ts';
import { type Build, installedBuild } from './by-hand.ts';
import type { Case } from './case.ts';
import { writeDocs } from './docs.ts';
import { LabGround } from './lab/lab-ground.ts';
import { whatTheLabLacks } from './lab/needs.ts';
import { labTables } from './lab/tables.ts';
import { loopbackCases } from './loopback/cases.ts';
import { CUBIC, whatCubicLacks, withCubic } from './loopback/congestion.ts';
import { LoopbackGround } from './loopback/loopback-ground.ts';
import { whatCopiesLack, whatFanOutToolsLack, whatLoopbackLacks } from './loopback/needs.ts';
import { loopbackPlots } from './loopback/plots.ts';
import { whatSlowLinksLack } from './loopback/slow-link.ts';
import { whatSwitchedHostsLack } from './loopback/switched-hosts.ts';
import {
  COPY_TABLES,
  CUBIC_TABLES,
  groundFor,
  type LoopbackTable,
  loopbackTables,
  SLOW_LINK_TABLES,
} from './loopback/tables.ts';
import { inWords, thisMachine } from './machine.ts';
import { compilePrograms } from './programs/programs.ts';
import { type Ground, type Outcome, runRounds } from './rounds.ts';
import { markdownOfAll, objectOf, type Program, type Summary } from './summary.ts';
import type { Column, Table } from './tables.ts';
import { USAGE, type Words, wordsOf } from './words.ts';

/** Amount of a warm-up run: the first run on a host reads programs from disk, and copies rdpipe's agent. */
const WARM_UP_MIB = 8;
const CHECKOUT: Build = { label: '', programs: join(ROOT, 'build/release') };
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
const INTERRUPTED = 130;

try {
  const words = wordsOf(process.argv.slice(2));
  if (words.help) console.log(USAGE);
  else await bench(words);
} catch (error) {
  console.error(`bench: ${(error as Error).message}`);
  process.exitCode = 1;
}

interface Place {
  readonly name: Summary['ground'];
  readonly mib: number;
  readonly ground: Ground;
  /** Prepares runs that move `mib`, and returns their tables. */
  readonly prepare: (mib: number) => Promise<Program>;
}

async function bench(asked: Words): Promise<void> {
  const words = possible(asked);
  const { loopback, lab } = words;
  const machine = thisMachine();
  say(inWords(machine));
  compilePrograms();
  const summaries = [
    ...(loopback.length > 0 ? [await onLoopback(words)] : []),
    ...(lab.length > 0 ? [await inTheLab(words)] : []),
  ];
  if (words.json !== undefined)
    writeFileSync(words.json, `${JSON.stringify({ v: 1, machine, grounds: summaries.map(objectOf) }, null, 1)}\n`);
  for (const { outcome } of summaries) failIf(outcome);
  if (words.writeDocs) for (const summary of summaries) writeDocs(summary, machine, commandOf(process.argv.slice(2)));
}

/** Throws if a requirement is missing. Without root, reports the tables that need root, and returns the others. */
function possible(words: Words): Words {
  const { loopback, lab } = words;
  const missing =
    (loopback.length > 0 ? whatLoopbackLacks() : undefined) ??
    (loopback.some((name) => COPY_TABLES.includes(name)) ? whatCopiesLack() : undefined) ??
    (loopback.includes('fan-out-tools') ? whatFanOutToolsLack() : undefined) ??
    (lab.length > 0 ? whatTheLabLacks() : undefined);
  if (missing !== undefined) throw new Error(missing);
  const without = [
    ...SLOW_LINK_TABLES.flatMap((table) => leftOut(loopback, table, whatSlowLinksLack)),
    ...leftOut(loopback, 'links', () => whatSwitchedHostsLack() ?? whatRailsLack() ?? whatLinkRatesLack()),
    ...leftOut(loopback, 'fan-out-tools', whatSwitchedHostsLack),
  ];
  return { ...words, loopback: loopback.filter((name) => !without.includes(name)) };
}

/** Returns the table if it was requested but cannot be measured. */
function leftOut(
  asked: readonly LoopbackTable[],
  table: LoopbackTable,
  lacks: () => string | undefined,
): readonly LoopbackTable[] {
  const reason = asked.includes(table) ? lacks() : undefined;
  if (reason === undefined) return [];
  say(`without the table ${table}: ${reason}`);
  return [table];
}

/** Returns the tables whose cases also run with cubic: those that measure TCP itself. */
function cubicTablesOf(asked: readonly LoopbackTable[]): readonly LoopbackTable[] {
  const tables = asked.filter((name) => CUBIC_TABLES.includes(name));
  const reason = tables.length > 0 ? whatCubicLacks() : undefined;
  if (reason === undefined) return tables;
  say(`without further rows for ${CUBIC}: ${reason}`);
  return [];
}

async function onLoopback(words: Words): Promise<Summary> {
  const doubled = cubicTablesOf(words.loopback);
  const cubic = doubled.length > 0;
  const { installed, mib } = words;
  const bin = join(installed ?? ROOT, 'bin');
  const ground = await LoopbackGround.open({ parent: words.dir, cubic, bin, ...groundFor(words.loopback) });
  return closing(
    () => ground.close(),
    () => {
      const links = join(ground.directory, 'programs');
      const builds = buildsOf(words, installed === undefined ? CHECKOUT : installedBuild(installed, links));
      const prepare = (each: number) => prepareLoopback(words, doubled, ground, builds, each);
      return measure(words, { name: 'loopback', mib, ground, prepare });
    },
  );
}

async function prepareLoopback(
  { loopback }: Words,
  doubled: readonly LoopbackTable[],
  ground: LoopbackGround,
  builds: readonly Build[],
  mib: number,
): Promise<Program> {
  await ground.prepare(mib);
  const cases = loopbackCases({ mib, builds });
  const all = loopbackTables(cases, mib);
  const tables = loopback.map((name) => ({ table: beside(all[name], builds), isDoubled: doubled.includes(name) }));
  return { tables: withCubic(tables), plots: (results) => loopbackPlots(cases, results) };
}

async function inTheLab(words: Words): Promise<Summary> {
  const ground = await LabGround.open(say);
  const builds = buildsOf(words, CHECKOUT);
  const prepare = async (mib: number): Promise<Program> => {
    const all = labTables(await ground.prepare(mib, builds));
    return { tables: words.lab.map((name) => beside(all[name], builds)), plots: () => [] };
  };
  return closing(
    async () => ground.close(),
    () => measure(words, { name: 'lab', mib: words.labMib, ground, prepare }),
  );
}

/** Calls `close` after `work`, and if a signal ends the benchmark. */
async function closing<T>(close: () => Promise<void>, work: () => Promise<T>): Promise<T> {
  const end = () => void close().finally(() => process.exit(INTERRUPTED));
  for (const signal of SIGNALS) process.once(signal, end);
  try {
    return await work();
  } finally {
    for (const signal of SIGNALS) process.off(signal, end);
    await close();
  }
}

/** Runs a warm-up round and the measured rounds; prints the results even if the rounds ended early. */
async function measure({ rounds, seed }: Words, { name, mib, ground, prepare }: Place): Promise<Summary> {
  const load = loadavg()[0] ?? 0;
  say('warming up');
  const { tables: small } = await prepare(WARM_UP_MIB);
  const first = await runRounds({ ground, cases: casesOf(small), rounds: 1, seed }, () => {});
  for (const failure of first.repeated) say(`ran again while warming up: ${failure}`);
  failIf(first);
  const { tables, plots } = await prepare(mib);
  const outcome = await runRounds({ ground, cases: casesOf(tables), rounds, seed }, say);
  const summary = { ground: name, mib, rounds, seed, load, tables, outcome, plots: () => plots(outcome.results) };
  console.log(markdownOfAll(summary));
  return summary;
}

/** All cases of the tables, each only once. */
function casesOf(tables: readonly Table[]): Case[] {
  return [...new Set(tables.flatMap(({ cases }) => cases))];
}

function commandOf(words: readonly string[]): string {
  return ['npm run bench', ...(words.length > 0 ? ['--', ...words] : [])].join(' ');
}

function buildsOf({ against }: Words, own: Build): Build[] {
  return against === undefined ? [own] : [own, { label: `, ${against}`, programs: against }];
}

/** Adds columns for the cases of another build: their figures as multiples of this build's. */
function beside(table: Table, builds: readonly Build[]): Table {
  const labels = builds.map(({ label }) => label).filter((label) => label !== '');
  const isOf = (one: Case, other: Case) =>
    labels.some((label) => other !== one && other.name.replace(label, '') === one.name);
  const pairs = table.cases.flatMap((one) =>
    table.cases.filter((other) => isOf(one, other)).map((other) => [other, one] as const),
  );
  const base = new Map(pairs);
  const ofFirst = table.columns.slice(0, 1).map(({ title, figure }) => ({ title: `${title} ÷ this build`, figure }));
  const columns = [...ofFirst, { title: 'CPU ÷ this build', figure: 'cpu_s' as const }];
  const more = columns.map((column): Column => ({ ...column, digits: 2, base }));
  return base.size === 0 ? table : { ...table, columns: [...table.columns, ...more] };
}

function failIf({ failure }: Outcome): void {
  if (failure !== undefined) throw new Error(`the rounds ended early: ${failure.message}`, { cause: failure });
}

function say(line: string): void {
  console.error(`bench: ${line}`);
}
