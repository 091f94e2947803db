// SPDX-License-Identifier: Apache-2.0
// The parts of the test suite: the short form for `npm test`, the long form for `npm run test:full`.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../setup/step.mjs';
import {
  command,
  corpora,
  cPrograms,
  cSuites,
  mocha,
  mochaInOrder,
  onOldestNode,
  sanitized,
  sideBySide,
  suiteNames,
  unitsOnOldestNode,
} from './steps.mjs';

/**
 * In the order in which they run. A part without a short form runs only in the long form. In the short form, parts that
 * mostly wait for timeouts (`waits`) run in parallel with those that compute.
 * `full`: the files in test/full that the long form adds; each belongs to one part (test/toolchain/parts).
 */
export const PARTS = [
  { name: 'setup', short: (names) => [setUp(names)], long: (names) => [setUp(names, '--full', '--cross')] },
  {
    name: 'check',
    full: ['toolchain/*', 'arm64-packages', 'arm64', 'bare-debian', 'packages', 'reproducible', 'rpm-package'],
    short: () => [sideBySide(checks()), mocha('test/toolchain')],
  },
  { name: 'unit', short: () => [mocha('packages/rdpipe/test')] },
  {
    name: 'native',
    full: ['arm64-suites', 'protocol-violations', 'rails', 'sizes', 'ssh-front'],
    short: () => [asan(), cPrograms([...cSuites('asan'), ...corpora()], mocha('test/{hop,agent}'))],
    long: () => [
      asan(),
      tsan(),
      cPrograms([...cSuites('tsan'), ...cSuites('asan'), ...corpora()], mocha('test/{hop,agent}')),
      ...analyses(),
    ],
  },
  {
    name: 'integration',
    full: [
      'bench',
      'completion',
      'integration/*',
      'launchers',
      'many-hosts',
      'quoting',
      'rdforward-*',
      'relay',
      'thousand-agents',
      'tools',
      'tools-lost',
    ],
    short: () => [mocha('test/{integration,serve,tools}')],
  },
  { name: 'copy', full: ['copy', 'copy/*'], short: () => [mocha('test/copy')] },
  { name: 'terminal', waits: true, full: ['terminal-sizes', 'terminal/*'], short: () => [mocha('test/terminal')] },
  {
    name: 'faults',
    waits: true,
    full: [
      'agent-*',
      'chain-matrix',
      'interruptions',
      'kill-matrix',
      'message-tampering',
      'network-*',
      'reconnect-*',
      'resources-*',
      'soak',
      'unauthenticated-*',
    ],
    short: () => [mocha('test/{faults,attacks}')],
  },
  { name: 'lab', waits: true, full: ['rdma*', 'lab/*'], short: () => [overVerbs(), mochaInOrder('test/lab')] },
  { name: 'oldest-node', long: () => [unitsOnOldestNode('packages/rdpipe/test'), ...programOnOldestNode()] },
].map(({ full, short, long = short, ...part }) => ({ ...part, full, short, long: full ? withFull(long, full) : long }));

/** The long tests of a part follow its other steps. */
function withFull(steps, full) {
  return () => [...steps(), mochaInOrder(full.map((pattern) => `test/full/${pattern}.test.ts`))];
}

/** `npm run test:quick`: types, lint, unit tests, and one test each of a pipeline, a copy, a server and a terminal. */
export const QUICK = [
  { name: 'setup', steps: () => [setUp(['unit', 'copy', 'terminal'])] },
  { name: 'check', steps: () => [sideBySide(['lint', 'types'].map(check))] },
  { name: 'unit', steps: () => [mocha('packages/rdpipe/test/{cli,config,copy,model,parse,plan,run,ui}')] },
  {
    name: 'end to end',
    steps: () => [
      mocha(
        ['integration/stdin', 'copy/rdcp', 'serve/copies', 'terminal/size-80x24'].map((name) => `test/${name}.test.ts`),
      ),
    ],
  },
];

/** The parts with these names. @throws for an unknown name. */
export function partsNamed(names) {
  const unknown = names.filter((name) => !PARTS.some((part) => part.name === name));
  if (unknown.length > 0)
    throw new Error(`no such part: ${unknown.join(' ')}; parts are ${PARTS.map((part) => part.name).join(' ')}`);
  return PARTS.filter((part) => names.includes(part.name));
}

/** The parts whose long form contains `file` of test/full, a path without `.test.ts`. */
export function partsWithLong(file) {
  const like = (pattern) => new RegExp(`^${pattern.replaceAll('*', '[^/]*')}$`);
  return PARTS.filter(({ full = [] }) => full.some((pattern) => like(pattern).test(file)));
}

/** Installs the packages that the named parts use. */
function setUp(names, ...more) {
  // WERROR: make fails on warnings here, because the suites are built with -O1, where the compiler gives fewer.
  return command('env', 'WERROR=1', 'node', 'scripts/setup.mjs', '--test', `--parts=${names.join(',')}`, ...more);
}

/** The parts of `npm run check`, one step each. */
function checks() {
  const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
  return / for part in ([a-z ]+);/.exec(scripts.check)[1].split(' ').map(check);
}

function check(part) {
  return command('npm', 'run', '--silent', `check:${part}`);
}

function asan() {
  return sanitized('address,undefined', 'test-programs', 'fuzz-programs');
}

function tsan() {
  return sanitized('thread', 'test-programs');
}

/** Compilers, analyzers and fuzzers that are not used elsewhere. */
function analyses() {
  return ['check:analyze', 'check:valgrind', 'fuzz'].map((script) => command('npm', 'run', '--silent', script));
}

/** Two C suites that also run in the lab. */
function overVerbs() {
  const names = suiteNames().filter((name) => /\/(transport|connection_flood)_test$/.test(name));
  return command('make', '-s', '-j2', ...names.map((name) => join('build', 'release', name)));
}

function programOnOldestNode() {
  return [onOldestNode('test/{integration,terminal,copy}')];
}
