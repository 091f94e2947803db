// SPDX-License-Identifier: Apache-2.0
// The steps of which parts of the suite consist: a command, a mocha run, several C suites.
// A step is a function that takes a descriptor for its output and resolves with counts.
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { OLDEST_NODE } from '../oldest-node.mjs';
import { ROOT } from '../setup/step.mjs';
import { add, failed, NOTHING, one } from './counts.mjs';
import { runCommand, say } from './run-command.mjs';

const MOCHA = 'node_modules/.bin/mocha';
/** More than there are processors, because tests sometimes wait for their programs. */
const JOBS = availableParallelism() + 2;
const SIDE_BY_SIDE = ['--parallel', '--jobs', `${JOBS}`];
/** Started first, because the others would finish long before them. */
const LONG_SUITES = /\/(loops|reconnect|connection_choice|program_violations|sender)_(test|fuzz)$/;

/** A step that only succeeds or fails: one test. */
export function command(...argv) {
  return async (output) => ((await runCommand(argv, output)) ? one('passed') : failed({ words: argv.join(' ') }));
}

/** Runs every `*.test.ts` below a directory, or several (`a/{b,c}`); or files, given as patterns. */
export function mocha(tests, ...options) {
  return mochaBy([MOCHA], {}, tests, ...SIDE_BY_SIDE, ...options);
}

/** Like `mocha`, one file after another, because the files share what they start. */
export function mochaInOrder(tests, ...options) {
  return mochaBy([MOCHA], {}, tests, ...options);
}

/** Runs mocha itself on the oldest node, without its configuration, which has options of newer nodes. */
export function unitsOnOldestNode(tests) {
  const limit = 300_000 * Number(process.env.RDPIPE_TEST_PATIENCE || 1);
  const options = ['--no-config', '--extension', 'ts', '--node-option', 'import=tsx', '--timeout', `${limit}`];
  return mochaBy([OLDEST_NODE.program, OLDEST_NODE.mocha, ...options], {}, tests, ...SIDE_BY_SIDE);
}

/** Runs the program under test on the oldest node, and mocha on this one. */
export function onOldestNode(tests, ...options) {
  return mochaBy([MOCHA], { RDPIPE_NODE: OLDEST_NODE.program }, tests, ...SIDE_BY_SIDE, ...options);
}

/** A mocha that ends without writing its counts has failed. */
function mochaBy(words, env, tests, ...options) {
  return async (output) => {
    const scratch = mkdtempSync(join(tmpdir(), 'rdpipe-test-counts-'));
    const file = join(scratch, 'counts.json');
    const files = [tests].flat().map((each) => (each.endsWith('.ts') ? each : `${each}/**/*.test.ts`));
    const argv = [...words, '--forbid-only', '--reporter', 'scripts/mocha-reporter.cjs', ...options, ...files];
    const succeeded = await runCommand(argv, output, { ...env, MOCHA_COUNTS: file });
    const died = failed({ words: argv.join(' ') });
    const counts = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : died;
    rmSync(scratch, { recursive: true });
    return !succeeded && counts.failed === 0 ? add(counts, died) : counts;
  };
}

/** Runs JOBS steps at a time, because many of them mostly wait for timeouts. */
export function sideBySide(steps) {
  return async (output) => {
    const waiting = [...steps];
    let counts = NOTHING;
    const work = async () => {
      for (let step = waiting.shift(); step !== undefined; step = waiting.shift()) {
        const more = await step(output);
        counts = add(counts, more);
      }
    };
    await Promise.all(Array.from({ length: JOBS }, work));
    return counts;
  };
}

/** Builds programs with a sanitizer; `programs` are make targets. */
export function sanitized(sanitizer, ...programs) {
  return command('make', `-j${availableParallelism()}`, 'WERROR=1', `SAN=${sanitizer}`, 'all', ...programs);
}

/** Runs C programs, one test each. The long ones, which mostly wait, run in parallel with the rest and `after`. */
export function cPrograms(programs, after) {
  const isLong = ({ program }) => LONG_SUITES.test(program);
  const long = sideBySide(programs.filter(isLong).map(suite));
  const rest = sideBySide(programs.filter((each) => !isLong(each)).map(suite));
  return async (output) => {
    const restThenAfter = async () => add(await rest(output), await after(output));
    return add(...(await Promise.all([long(output), restThenAfter()])));
  };
}

/** Every C suite, built as `variant` (`asan`, `tsan`). */
export function cSuites(variant) {
  return suiteNames().map((name) => ({ program: join('build', variant, name), variant, args: [] }));
}

/** The fuzz targets with their kept inputs, with sanitizers but without libFuzzer. */
export function corpora() {
  return programsOf('fuzz', 'fuzz').map((name) => {
    const corpus = join('packages', name.replace(/(\w+)_fuzz$/, 'corpus/$1.txt'));
    return { program: join('build', 'asan', name), variant: 'asan', args: [corpus] };
  });
}

/** The C suites without `packages/` and extension: `rdendpoint-native/test/ring_test`. */
export function suiteNames() {
  return programsOf('test', 'test');
}

/** The programs whose sources are packages/NAME-native/DIRECTORY/NAME_SUFFIX.c. */
function programsOf(directory, suffix) {
  return readdirSync(join(ROOT, 'packages'), { recursive: true })
    .filter((file) => new RegExp(`^[a-z]+-native/${directory}/\\w+_${suffix}\\.c$`).test(file))
    .map((file) => file.replace(/\.c$/, ''))
    .sort();
}

function suite({ program, variant, args }) {
  return async (output) => {
    const succeeded = await runCommand([program, ...args], output, { RD_BIN: join(ROOT, 'build', variant) });
    say(output, `  ${succeeded ? 'ok  ' : 'FAIL'} ${program}\n`);
    const words = [`RD_BIN=build/${variant}`, program, ...args].join(' ');
    return succeeded ? one('passed') : failed({ words });
  };
}
