// SPDX-License-Identifier: Apache-2.0
// Runs the parts of the test suite one after another: `node scripts/test.mjs [--full] [PART...]`.
// Each part prints its time. The failures stand at the end, for logs of which only the end is kept; the last line is
// the sum, `N passed, N failed[, N skipped]`.
import { spawn } from 'node:child_process'; // not execa: the first part installs it
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { OLDEST_NODE } from './oldest-node.mjs';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const OVERTIME_FACTOR = 3;
/** For tests that mostly wait for ssh. */
const SIDE_BY_SIDE = ['--parallel', '--jobs', '3'];
const SUITES_AT_ONCE = 4;
/** Begun first, or the others would be done long before them. */
const LONG_SUITES = /\/(loops|reconnect|connection_choice|program_violations|sender)_(test|fuzz)$/;

/** In the order in which they run. The time of a part over its budget is marked; far over it, the part is ended. */
const PARTS = [
  { name: 'setup', budgetMinutes: 4, steps: setUp },
  { name: 'check', budgetMinutes: 2, steps: checks },
  { name: 'unit', budgetMinutes: 2, steps: () => [mocha('packages/rdpipe/test', ...SIDE_BY_SIDE)] },
  { name: 'native', budgetMinutes: 2, steps: native },
  { name: 'integration', budgetMinutes: 5, steps: integration },
  { name: 'copy', budgetMinutes: 4, steps: () => [mocha('test/copy', ...SIDE_BY_SIDE)] },
  { name: 'terminal', budgetMinutes: 3, steps: () => [mocha('test/terminal', ...SIDE_BY_SIDE)] },
  { name: 'oldest-node', budgetMinutes: 1, steps: sampleOnOldestNode },
  { name: 'faults', budgetMinutes: 3, steps: () => [mocha('test/{faults,attacks}', '--parallel', '--jobs', '4')] },
  { name: 'lab', budgetMinutes: 5, steps: inTheLab },
  { name: 'full', budgetMinutes: 60, steps: full, long: true },
  { name: 'oldest-node-full', budgetMinutes: 12, steps: allOnOldestNode, long: true },
];

const MOCHA = 'node_modules/.bin/mocha';
const LONGEST_FAILURE = 2000;
const NOTHING = { passed: 0, failed: 0, skipped: 0, failures: [] };
process.exitCode = (await runAll(chosenParts(process.argv.slice(2)))) ? 0 : 1;

function chosenParts(words) {
  const names = words.filter((word) => word !== '--full');
  const unknown = names.filter((name) => !PARTS.some((part) => part.name === name));
  if (unknown.length > 0)
    throw new Error(`no such part: ${unknown.join(' ')}; parts are ${PARTS.map((part) => part.name).join(' ')}`);
  if (names.length > 0) return PARTS.filter((part) => names.includes(part.name));
  return PARTS.filter((part) => !part.long || words.includes('--full'));
}

async function runAll(parts) {
  let total = NOTHING;
  const times = [];
  for (const part of parts) {
    const started = Date.now();
    const counts = await runPart(part);
    times.push(timeLine(part, counts, (Date.now() - started) / 1000));
    console.log(times.at(-1));
    total = add(total, counts);
    if (part.name === 'setup' && counts.failed > 0) break;
  }
  const failures = total.failures.map((words) => `FAILED ${words.slice(0, LONGEST_FAILURE)}\n`);
  console.log(`\n${failures.join('')}\n${times.join('\n')}\n\n${inWords(total)}`);
  return total.failed === 0;
}

async function runPart(part) {
  console.log(`\n== ${part.name}`);
  const deadline = Date.now() + part.budgetMinutes * OVERTIME_FACTOR * 60_000;
  let counts = NOTHING;
  for (const step of part.steps()) counts = add(counts, await step(deadline));
  return counts;
}

function setUp() {
  const full = process.argv.includes('--full') ? ['--full', '--cross'] : [];
  // make's own variable: the suites are built at -O1, where the compiler warns of less.
  return [command('env', 'WERROR=1', 'node', 'scripts/setup.mjs', '--test', ...full)];
}

/** The parts of `npm run check`, each a step of its own, and tests of what builds. */
function checks() {
  const { check } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).scripts;
  const parts = /^for part in ([a-z ]+);/.exec(check)[1].split(' ');
  const commands = parts.map((part) => command('npm', 'run', '--silent', `check:${part}`));
  return [sideBySide(commands), mocha('test/toolchain', ...SIDE_BY_SIDE)];
}

/** The programs by themselves, and everything together. */
function integration() {
  return [mocha('test/{native,agent,integration,serve,tools}', '--parallel', '--jobs', '5')];
}

/** The quick ones of units, and a little of all that a run does. */
function sampleOnOldestNode() {
  return [
    unitsOnOldestNode('packages/rdpipe/test/{config,run,ui}'),
    onOldestNode('test/integration/@(demo|files|page|status|stdin|stdout).test.ts', '-i', '-g', 'in a browser'),
    onOldestNode('test/terminal/size-80x24.test.ts', '-g', 'built.*shows a row a hop'),
  ];
}

function allOnOldestNode() {
  return [unitsOnOldestNode('packages/rdpipe/test'), onOldestNode('test/{integration,terminal,copy}')];
}

/** Mocha itself runs there. It would read options of newer nodes from its configuration. */
function unitsOnOldestNode(folder) {
  const options = ['--no-config', '--extension', 'ts', '--node-option', 'import=tsx', '--timeout', '20000'];
  return mochaBy([OLDEST_NODE.program, OLDEST_NODE.mocha, ...options], {}, folder, ...SIDE_BY_SIDE);
}

/** The program under test runs there, mocha here. */
function onOldestNode(tests, ...options) {
  return mochaBy([MOCHA], { RDPIPE_NODE: OLDEST_NODE.program }, tests, ...SIDE_BY_SIDE, ...options);
}

/** Two suites of C run there too. */
function inTheLab() {
  const overVerbs = suiteNames().filter((name) => /\/(transport|connection_flood)_test$/.test(name));
  return [command('make', '-s', '-j2', ...overVerbs.map((name) => join('build', 'release', name))), mocha('test/lab')];
}

/** Compilers, analyzers and fuzzers that nothing else needs, then the long tests. */
function full() {
  const tools = ['check:analyze', 'check:valgrind', 'fuzz'].map((script) => command('npm', 'run', '--silent', script));
  return [...tools, mocha('test/full')];
}

/** A step that only succeeds or fails: one test. */
function command(...argv) {
  return async (deadline) => ((await run(argv, deadline)) ? one('passed') : failed(argv.join(' ')));
}

/** Every `*.test.ts` below a folder, or several: `a/{b,c}`. */
function mocha(folder, ...options) {
  return mochaBy([MOCHA], {}, folder, ...options);
}

/** `tests` may also be a pattern of files. A mocha that died without its counts has failed. */
function mochaBy(words, env, tests, ...options) {
  return async (deadline) => {
    const scratch = mkdtempSync(join(tmpdir(), 'rdpipe-test-counts-'));
    const file = join(scratch, 'counts.json');
    const argv = [
      ...words,
      '--forbid-only',
      '--reporter',
      'scripts/mocha-reporter.cjs',
      ...options,
      tests.endsWith('.ts') ? tests : `${tests}/**/*.test.ts`,
    ];
    const succeeded = await run(argv, deadline, { ...env, MOCHA_COUNTS: file });
    const counts = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : failed(argv.join(' '));
    rmSync(scratch, { recursive: true });
    return !succeeded && counts.failed === 0 ? add(counts, failed(argv.join(' '))) : counts;
  };
}

/** Builds the C suites with each sanitizer, then runs them all: one test a suite, one the corpus of a fuzz target. */
function native() {
  const make = (sanitizer, ...what) => command('make', '-j2', 'WERROR=1', `SAN=${sanitizer}`, ...what);
  const programs = [...suites('tsan'), ...suites('asan'), ...corpora()];
  const long = programs.filter(({ program }) => LONG_SUITES.test(program));
  const inOrder = [...long, ...programs.filter((each) => !long.includes(each))];
  return [
    make('thread', 'all', 'test-programs'),
    make('address,undefined', 'all', 'test-programs', 'fuzz-programs'),
    sideBySide(inOrder.map(suite)),
  ];
}

function suites(variant) {
  return suiteNames().map((name) => ({ program: join('build', variant, name), variant, args: [] }));
}

/** The kept inputs of every fuzz target, with sanitizers but without libFuzzer. */
function corpora() {
  return programsOf('fuzz', 'fuzz').map((name) => {
    const corpus = join('packages', name.replace(/(\w+)_fuzz$/, 'corpus/$1'));
    return { program: join('build', 'asan', name), variant: 'asan', args: [corpus] };
  });
}

/** Several at once, for they mostly wait: for a silence to be long enough, for a limit to pass. */
function sideBySide(steps) {
  return async (deadline) => {
    const waiting = [...steps];
    let counts = NOTHING;
    const work = async () => {
      for (let step = waiting.shift(); step !== undefined; step = waiting.shift()) {
        const more = await step(deadline);
        counts = add(counts, more);
      }
    };
    await Promise.all(Array.from({ length: SUITES_AT_ONCE }, work));
    return counts;
  };
}

function suiteNames() {
  return programsOf('test', 'test');
}

/** Their sources are packages/NAME-native/FOLDER/NAME_SUFFIX.c. */
function programsOf(folder, suffix) {
  return readdirSync(join(root, 'packages'), { recursive: true })
    .filter((file) => new RegExp(`^[a-z]+-native/${folder}/\\w+_${suffix}\\.c$`).test(file))
    .map((file) => file.replace(/\.c$/, ''))
    .sort();
}

function suite({ program, variant, args }) {
  return async (deadline) => {
    const succeeded = await run([program, ...args], deadline, { RD_BIN: join(root, 'build', variant) });
    console.log(`  ${succeeded ? 'ok  ' : 'FAIL'} ${program}`);
    return succeeded ? one('passed') : failed(program);
  };
}

/** Runs in a process group of its own, ended whole at the deadline or with us. */
function run([program, ...args], deadline, env = {}) {
  const child = spawn(program, args, {
    cwd: root,
    detached: true,
    stdio: ['ignore', 'inherit', 'inherit'],
    env: { ...process.env, ...env },
  });
  return new Promise((resolve) => {
    const endGroup = () => process.kill(-child.pid, 'SIGKILL');
    const timer = setTimeout(
      () => {
        console.log(`${program} ${args.join(' ')}: ended, it took too long`);
        endGroup();
      },
      Math.max(0, deadline - Date.now()),
    );
    const interrupted = () => {
      endGroup();
      process.exit(130);
    };
    process.once('SIGINT', interrupted);
    child.once('error', (error) => finish(console.log(`${program}: ${error.message}`)));
    child.once('close', (status) => finish(status));
    function finish(status) {
      clearTimeout(timer);
      process.off('SIGINT', interrupted);
      resolve(status === 0);
    }
  });
}

function timeLine(part, counts, seconds) {
  const over = seconds > part.budgetMinutes * 60 ? `, over its budget of ${part.budgetMinutes} min` : '';
  return `-- ${part.name.padEnd(12)} ${seconds.toFixed(1).padStart(6)} s   ${inWords(counts)}${over}`;
}

function inWords({ passed, failed, skipped }) {
  return `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`;
}

function one(outcome) {
  return { ...NOTHING, [outcome]: 1 };
}

function failed(words) {
  return { ...one('failed'), failures: [words] };
}

function add(left, right) {
  return {
    passed: left.passed + right.passed,
    failed: left.failed + right.failed,
    skipped: left.skipped + right.skipped,
    failures: [...left.failures, ...right.failures],
  };
}
