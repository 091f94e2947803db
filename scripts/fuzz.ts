// SPDX-License-Identifier: Apache-2.0
// Builds the fuzz targets with clang and runs them: `npm run fuzz [-- [TARGET...] OPTION...]`, see USAGE.
// Findings are written to build/fuzz/found, inputs that cover more than the kept corpora to build/fuzz/corpus.
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { basename, dirname, join, parse } from 'node:path';
import { parseArgs } from 'node:util';
import { execa, execaSync } from 'execa';
import { pack, readCorpus, textOf, unpack, writeCorpus } from './fuzz-corpus.ts';

const ROOT = join(import.meta.dirname, '..');
const BUILT = join(ROOT, 'build/fuzz');
const FOUND = join(BUILT, 'found');

const USAGE = `usage: npm run fuzz [-- [TARGET...] [--total N | --runs N | --seconds N] [--jobs N] [--keep]]
       npm run fuzz -- TARGET --add FILE
  --total N    executions of all targets together, each its share of them (default: 5e6)
  --runs N     executions of each target
  --seconds N  each target for so long
  --jobs N     targets at a time (default: 1)
  --keep       replaces the kept corpora by all inputs, made as small as they can be
  --add FILE   adds it to the kept corpus, under the file's name`;
const TOTAL = 5e6;

/** Percentages of all executions: quick targets do most. Targets with threads and ciphers do a few thousand. */
const SHARES: Readonly<Record<string, number>> = {
  address: 20,
  flow: 19,
  agent_options: 18,
  wire: 15,
  options: 8,
  pattern: 5,
  block: 3,
  tree: 3,
  tree_settings: 2,
  requests: 2,
  agent: 1.1,
  hop: 1.1,
  to_receiver: 1.3,
  to_sender: 1.3,
  commands: 0.2,
  forward_mux: 0.2,
  merge: 0.2,
  lanes: 0.2,
};
const OTHER_SHARE = 0.004;
const OTHER_MIN = 300;

const INPUT_MAX_BYTES = 2048;
/** Longer inputs only take longer: the target reads one message and nothing after it. */
const SHORT: Readonly<Record<string, number>> = {
  wire: 1200,
  flow: 400,
  address: 400,
  agent_options: 300,
  pattern: 300,
};

/** Freed memory is used again soon: a large quarantine would take most of the time. */
const ASAN = 'quarantine_size_mb=16:max_malloc_fill_size=0:malloc_context_size=8';
const LIMITS = ['-timeout=10', '-rss_limit_mb=2048', '-malloc_limit_mb=256', `-artifact_prefix=${FOUND}/`];
const PLAIN = ['-print_final_stats=1', '-print_funcs=0', '-entropic=0'];

interface Target {
  readonly name: string;
  readonly program: string;
  /** The kept corpus as text, and unpacked as files. */
  readonly kept: string;
  readonly unpacked: string;
  readonly corpus: string;
  readonly dictionary: string;
}

interface Amount {
  readonly total: number | undefined;
  readonly runs: number | undefined;
  readonly seconds: number | undefined;
}

interface Words {
  readonly names: readonly string[];
  readonly amount: Amount;
  readonly jobs: number;
  readonly keep: boolean;
  readonly add: string | undefined;
}

interface Result {
  readonly name: string;
  readonly good: boolean;
  readonly executions: number;
  readonly perSecond: number;
  readonly edges: number;
  readonly inputs: number;
}

process.exitCode = await main();

async function main(): Promise<number> {
  const words = readWords();
  const targets = allTargets().filter(({ name }) => words?.names.length === 0 || words?.names.includes(name));
  if (words === undefined || targets.length < Math.max(words.names.length, 1)) return usage();
  if (words.add !== undefined) return targets.length === 1 ? add(words.add, targets[0] as Target) : usage();
  if (!clangCanFuzz()) return complain('clang with libFuzzer is needed (Debian: clang and libclang-rt-14-dev)');
  if (!succeeds('make', '-s', '-j2', 'WERROR=1', 'FUZZ=1', 'fuzz-programs')) return complain('the build failed');
  mkdirSync(FOUND, { recursive: true });
  for (const { kept, unpacked } of targets) unpack(readCorpus(kept), unpacked);
  if (words.keep) return targets.every(keep) ? 0 : 1;
  const results = await atATime(words.jobs, targets, (target) => fuzz(target, words.amount));
  console.log(table(results));
  const failed = results.filter(({ good }) => !good);
  for (const { name } of failed) console.error(`fuzz: ${name} failed: see build/fuzz/${name}.log, and ${FOUND}`);
  return failed.length > 0 ? 1 : 0;
}

function readWords(): Words | undefined {
  const string = { type: 'string' } as const;
  try {
    const { values, positionals } = parseArgs({
      options: { total: string, runs: string, seconds: string, jobs: string, keep: { type: 'boolean' }, add: string },
      allowPositionals: true,
    });
    const [total, runs, seconds, jobs] = [values.total, values.runs, values.seconds, values.jobs].map((word) =>
      word === undefined ? undefined : Math.round(Number(word)),
    );
    const given = [total, runs, seconds, jobs].filter((value) => value !== undefined);
    if (!given.every((value) => value >= 1)) return undefined;
    const amount = { total, runs, seconds };
    return { names: positionals, amount, jobs: jobs ?? 1, keep: values.keep === true, add: values.add };
  } catch {
    return undefined;
  }
}

function allTargets(): Target[] {
  const files = readdirSync(join(ROOT, 'packages'), { recursive: true, encoding: 'utf8' });
  return files
    .filter((file) => /^[a-z]+-native\/fuzz\/\w+_fuzz\.c$/.test(file))
    .sort()
    .map((file) => {
      const name = basename(file, '_fuzz.c');
      const directory = join(ROOT, 'packages', dirname(file));
      return {
        name,
        program: join(BUILT, dirname(file), parse(file).name),
        kept: join(directory, 'corpus', `${name}.txt`),
        unpacked: join(BUILT, 'unpacked', name),
        corpus: join(BUILT, 'corpus', name),
        dictionary: join(directory, `${name}.dict`),
      };
    });
}

function clangCanFuzz(): boolean {
  const input =
    'int LLVMFuzzerTestOneInput(const unsigned char *data, unsigned long size) { return data && size ? 0 : 0; }';
  const words = ['-fsanitize=fuzzer,address', '-x', 'c', '-', '-o', '/dev/null'];
  return !execaSync('clang', words, { input, reject: false }).failed;
}

async function atATime<T, R>(jobs: number, items: readonly T[], work: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  let next = 0;
  const worker = async () => {
    while (next < items.length) {
      const index = next++;
      results[index] = await work(items[index] as T);
    }
  };
  await Promise.all(Array.from({ length: jobs }, worker));
  return results;
}

async function fuzz(target: Target, amount: Amount): Promise<Result> {
  const started = Date.now();
  mkdirSync(target.corpus, { recursive: true });
  const dictionary = existsSync(target.dictionary) ? [`-dict=${target.dictionary}`] : [];
  const log = join(BUILT, `${target.name}.log`);
  const options = [...LIMITS, ...PLAIN, ...limitOf(target, amount), ...dictionary, maxLengthOf(target)];
  const { failed } = await execa(target.program, [...options, target.corpus, target.unpacked], {
    cwd: ROOT,
    env: { ASAN_OPTIONS: ASAN },
    stdio: ['ignore', { file: log }, { file: log }],
    buffer: false,
    reject: false,
  });
  const good = !failed;
  const said = readFileSync(log, 'utf8');
  if (!good) console.log(`== ${target.name}\n${said.split('\n').slice(-60).join('\n')}`);
  const executions = lastNumber(said, /^stat::number_of_executed_units: (\d+)/gm);
  const result = {
    name: target.name,
    good,
    executions,
    perSecond: Math.round((executions * 1000) / (Date.now() - started)),
    edges: lastNumber(said, / cov: (\d+)/g),
    inputs: lastNumber(said, / corp: (\d+)/g),
  };
  console.log(row(result));
  return result;
}

function limitOf(target: Target, amount: Amount): string[] {
  if (amount.seconds !== undefined) return [`-max_total_time=${amount.seconds}`];
  if (amount.runs !== undefined) return [`-runs=${amount.runs}`];
  const share = ((SHARES[target.name] ?? OTHER_SHARE) / 100) * (amount.total ?? TOTAL);
  return [`-runs=${Math.max(Math.round(share), OTHER_MIN)}`];
}

function maxLengthOf(target: Target): string {
  return `-max_len=${SHORT[target.name] ?? INPUT_MAX_BYTES}`;
}

function lastNumber(text: string, pattern: RegExp): number {
  return Number([...text.matchAll(pattern)].at(-1)?.[1] ?? 0);
}

function table(results: readonly Result[]): string {
  const sum = (pick: (result: Result) => number) => results.reduce((total, result) => total + pick(result), 0);
  const all = {
    name: 'sum',
    good: true,
    executions: sum(({ executions }) => executions),
    perSecond: sum(({ perSecond }) => perSecond),
    edges: sum(({ edges }) => edges),
    inputs: sum(({ inputs }) => inputs),
  };
  return [`\n${line('target', 'executions', 'a second', 'edges', 'inputs')}`, ...results.map(row), row(all)].join('\n');
}

function row({ name, good, executions, perSecond, edges, inputs }: Result): string {
  const numbers = [executions, perSecond, edges, inputs].map((value) => value.toLocaleString('en'));
  return line(name, ...numbers) + (good ? '' : '  FAILED');
}

function line(name: string, ...columns: readonly string[]): string {
  return name.padEnd(14) + columns.map((column) => column.padStart(14)).join('');
}

/** Replaces the kept corpus by a minimal set of inputs with the same coverage. */
function keep(target: Target): boolean {
  const chosen = join(BUILT, 'kept', target.name);
  rmSync(chosen, { recursive: true, force: true });
  for (const directory of [chosen, target.corpus]) mkdirSync(directory, { recursive: true });
  const merge = ['-set_cover_merge=1', maxLengthOf(target), ...LIMITS];
  if (!succeeds(target.program, ...merge, chosen, target.unpacked, target.corpus)) return false;
  writeCorpus(target.kept, pack(chosen, readCorpus(target.kept)));
  return true;
}

function add(file: string, { kept }: Target): number {
  const input = { name: basename(file).replace(/[^\w.-]/g, '-'), text: textOf(readFileSync(file)) };
  writeCorpus(kept, [...readCorpus(kept), input]);
  return 0;
}

function succeeds(program: string, ...args: readonly string[]): boolean {
  return !execaSync(program, args, { cwd: ROOT, stdio: ['ignore', 'inherit', 'inherit'], reject: false }).failed;
}

function usage(): number {
  const names = allTargets().map((target) => target.name);
  return complain(`${USAGE}\n  targets are ${names.join(', ')}`);
}

function complain(words: string): number {
  console.error(`fuzz: ${words}`);
  return 2;
}
