// SPDX-License-Identifier: Apache-2.0
// Lines and branches of the native programs that tests reach: the C suites, the kept corpora of the fuzz targets, and
// tests of single programs (test/hop, test/agent). Code that only the lab runs, such as all RDMA, counts as missed.
// Builds with gcc --coverage in build/coverage, runs the tests, and prints lines and branches by file and by package,
// then the uncalled functions of the ten files with the lowest coverage.
import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { execaSync } from 'execa';

const ROOT = join(import.meta.dirname, '..');
const OUT = 'build/coverage';
// Several threads update the counters, but only one program at a time.
const FLAGS = [
  'CPPFLAGS=-DRD_WITHOUT_SANDBOX',
  'CFLAGS=-O0 -g --coverage -fprofile-update=atomic',
  'LDFLAGS=--coverage',
];
const SUITE_MAX_MS = 600_000;
const PROGRAMS = ['node_modules/.bin/mocha', '--parallel', '--jobs', '2', 'test/{hop,agent}/**/*.test.ts'];
const PROGRAMS_MAX_MS = 1_200_000;
const WORST = 10;
const OF_THE_LAB = /\/transport\/verbs\//;

interface Share {
  readonly hit: number;
  readonly all: number;
}

interface Covered {
  readonly file: string;
  readonly lines: Share;
  readonly branches: Share;
  readonly uncalled: readonly string[];
}

/** The output of `gcov --json-format`. */
interface GcovOutput {
  readonly files: readonly {
    readonly file: string;
    readonly lines: readonly { readonly count: number; readonly branches: readonly { readonly count: number }[] }[];
    readonly functions: readonly { readonly name: string; readonly execution_count: number }[];
  }[];
}

process.exitCode = main();

function main(): number {
  const make = ['-s', '-j2', `OUT=${OUT}`, ...FLAGS, 'all', 'test-programs', 'fuzz-programs'];
  if (execaSync('make', make, { cwd: ROOT, stdio: 'inherit', reject: false }).failed) return 1;
  for (const data of filesBelow(OUT, /\.gcda$/)) rmSync(join(ROOT, data));
  const failed = [...suites(), ...corpora(), PROGRAMS].filter((argv) => !runs(argv));
  for (const [program] of failed) console.error(`coverage: ${program} failed; its coverage may be missing`);
  const files = filesBelow(OUT, /-native\/src\/.+\.gcno$/).flatMap(coveredBy);
  print(files);
  return failed.length > 0 ? 1 : 0;
}

function suites(): string[][] {
  return filesBelow(OUT, /\/test\/\w+_test$/).map((program) => [program]);
}

function corpora(): string[][] {
  return filesBelow(OUT, /\/fuzz\/\w+_fuzz$/).map((program) => {
    const corpus = program.replace(OUT, 'packages').replace(/(\w+)_fuzz$/, 'corpus/$1.txt');
    return [program, corpus];
  });
}

function filesBelow(directory: string, pattern: RegExp): string[] {
  const files = readdirSync(join(ROOT, directory), { recursive: true, encoding: 'utf8' });
  return files
    .map((file) => join(directory, file))
    .filter((file) => pattern.test(file))
    .sort();
}

function runs([program = '', ...args]: readonly string[]): boolean {
  const env = { RD_BIN: join(ROOT, OUT) };
  const timeout = program === PROGRAMS[0] ? PROGRAMS_MAX_MS : SUITE_MAX_MS;
  const { failed, stderr } = execaSync(join(ROOT, program), args, { cwd: ROOT, env, timeout, reject: false });
  if (failed) console.error(stderr);
  return !failed;
}

/** An object without counts was never run: all its lines count as missed. */
function coveredBy(notes: string): Covered[] {
  const words = ['--json-format', '--stdout', '--branch-probabilities', notes];
  const { stdout } = execaSync('gcov', words, { cwd: ROOT, maxBuffer: 1 << 28 });
  const said = JSON.parse(stdout) as GcovOutput;
  return said.files
    .filter(({ file }) => file.startsWith('packages/') && file.endsWith('.c'))
    .map(({ file, lines, functions }) => ({
      file,
      lines: share(lines),
      branches: share(lines.flatMap(({ branches }) => branches)),
      uncalled: functions.filter((each) => each.execution_count === 0).map(({ name }) => name),
    }));
}

function share(counted: readonly { readonly count: number }[]): Share {
  return { hit: counted.filter(({ count }) => count > 0).length, all: counted.length };
}

function print(files: readonly Covered[]): void {
  const packages = [...new Set(files.map(({ file }) => packageOf(file)))];
  console.log(row('file', 'lines', '%', 'branches', '%'));
  for (const each of packages) {
    const of = files.filter(({ file }) => packageOf(file) === each);
    for (const covered of of) console.log(figures(covered.file.replace('packages/', ''), [covered]));
    console.log(`${figures(`= ${each}`, of)}\n`);
  }
  console.log(figures('= all', files));
  const here = files.filter(({ file }) => !OF_THE_LAB.test(file));
  const worst = here.sort((one, other) => percent(one.lines) - percent(other.lines)).slice(0, WORST);
  console.log('\nLowest coverage, without RDMA, and functions that nothing called:');
  for (const { file, lines, uncalled } of worst)
    console.log(`${percent(lines).toFixed(0).padStart(4)} %  ${file}: ${uncalled.join(', ') || '-'}`);
}

function packageOf(file: string): string {
  return file.split('/')[1] ?? '';
}

function figures(name: string, files: readonly Covered[]): string {
  const lines = sum(files.map((each) => each.lines));
  const branches = sum(files.map((each) => each.branches));
  const columns = [lines, branches].flatMap((each) => [`${each.hit}/${each.all}`, percent(each).toFixed(1)]);
  return row(name, ...columns);
}

function sum(shares: readonly Share[]): Share {
  return shares.reduce((total, { hit, all }) => ({ hit: total.hit + hit, all: total.all + all }), { hit: 0, all: 0 });
}

function percent({ hit, all }: Share): number {
  return all === 0 ? 100 : (hit / all) * 100;
}

function row(name: string, ...columns: readonly string[]): string {
  return name.padEnd(52) + columns.map((column) => column.padStart(13)).join('');
}
