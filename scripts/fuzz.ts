// SPDX-License-Identifier: Apache-2.0
// Builds the fuzz targets with clang and runs them one after the other: `npm run fuzz [TARGET...] [SECONDS] [-- --keep]`.
// What they find is in build/fuzz/found, and the inputs that cover more than the kept corpora in build/fuzz/corpus;
// --keep makes the kept corpora anew from both, as small as it can.
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { basename, dirname, join, parse } from 'node:path';

const ROOT = join(import.meta.dirname, '..');
const BUILT = join(ROOT, 'build/fuzz');
const FOUND = join(BUILT, 'found');
const SECONDS = 60;
const INPUT_MOST_BYTES = 4096;
const LIMITS = ['-timeout=10', '-rss_limit_mb=2048', `-artifact_prefix=${FOUND}/`, '-print_final_stats=1'];

interface Target {
  readonly name: string;
  readonly program: string;
  readonly kept: string;
  readonly corpus: string;
  readonly dictionary: string;
}

process.exitCode = main(process.argv.slice(2));

function main(words: readonly string[]): number {
  const names = words.filter((word) => /^[a-z]\w*$/.test(word));
  const seconds = Number(words.find((word) => /^\d+$/.test(word)) ?? SECONDS);
  const targets = allTargets().filter((target) => names.length === 0 || names.includes(target.name));
  const odd = words.filter((word) => !names.includes(word) && !/^\d+$/.test(word) && word !== '--keep');
  if (odd.length > 0 || targets.length < names.length || targets.length === 0) return usage();
  if (!clangCanFuzz()) return complain('clang with libFuzzer is needed (Debian: clang and libclang-rt-14-dev)');
  if (!succeeds('make', '-s', '-j2', 'WERROR=1', 'FUZZ=1', 'fuzz-programs')) return complain('the build failed');
  mkdirSync(FOUND, { recursive: true });
  const failed = targets.filter((target) => !(words.includes('--keep') ? keep(target) : fuzz(target, seconds)));
  for (const { name } of failed) console.error(`fuzz: ${name} failed: see above, and ${FOUND}`);
  return failed.length > 0 ? 1 : 0;
}

function allTargets(): Target[] {
  const files = readdirSync(join(ROOT, 'packages'), { recursive: true, encoding: 'utf8' });
  return files
    .filter((file) => /^[a-z]+-native\/fuzz\/\w+_fuzz\.c$/.test(file))
    .sort()
    .map((file) => {
      const name = basename(file, '_fuzz.c');
      const folder = join(ROOT, 'packages', dirname(file));
      return {
        name,
        program: join(BUILT, dirname(file), parse(file).name),
        kept: join(folder, 'corpus', name),
        corpus: join(BUILT, 'corpus', name),
        dictionary: join(folder, `${name}.dict`),
      };
    });
}

function clangCanFuzz(): boolean {
  const asked = spawnSync('clang', ['-fsanitize=fuzzer,address', '-x', 'c', '-', '-o', '/dev/null'], {
    input: 'int LLVMFuzzerTestOneInput(const unsigned char *data, unsigned long size) { return data && size ? 0 : 0; }',
  });
  return asked.status === 0;
}

function fuzz(target: Target, seconds: number): boolean {
  console.log(`== ${target.name}, ${seconds} s`);
  mkdirSync(target.corpus, { recursive: true });
  const dictionary = existsSync(target.dictionary) ? [`-dict=${target.dictionary}`] : [];
  const time = [`-max_total_time=${seconds}`, `-max_len=${INPUT_MOST_BYTES}`];
  const log = join(BUILT, `${target.name}.log`);
  const line = `exec "$@" >"${log}" 2>&1`;
  const good = succeeds(
    'sh',
    '-c',
    line,
    'sh',
    target.program,
    ...LIMITS,
    ...time,
    ...dictionary,
    target.corpus,
    target.kept,
  );
  const said = readFileSync(log, 'utf8').split('\n');
  console.log(
    good ? said.filter((words) => words.startsWith('stat::number_of_executed')).join() : said.slice(-60).join('\n'),
  );
  return good;
}

/** A smallest set of inputs that covers what all of them do. */
function keep(target: Target): boolean {
  const chosen = join(BUILT, 'kept', target.name);
  rmSync(chosen, { recursive: true, force: true });
  mkdirSync(chosen, { recursive: true });
  mkdirSync(target.corpus, { recursive: true });
  if (!succeeds(target.program, '-set_cover_merge=1', ...LIMITS, chosen, target.kept, target.corpus)) return false;
  rmSync(target.kept, { recursive: true });
  cpSync(chosen, target.kept, { recursive: true });
  return true;
}

function succeeds(program: string, ...args: readonly string[]): boolean {
  return spawnSync(program, args, { cwd: ROOT, stdio: ['ignore', 'inherit', 'inherit'] }).status === 0;
}

function usage(): number {
  const names = allTargets().map((target) => target.name);
  return complain(`usage: npm run fuzz [TARGET...] [SECONDS] [-- --keep]; targets are ${names.join(', ')}`);
}

function complain(words: string): number {
  console.error(`fuzz: ${words}`);
  return 2;
}
