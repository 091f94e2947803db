// SPDX-License-Identifier: Apache-2.0
// The C suites of the programs for arm64, emulated:
// with pages of 4 KiB and, for some suites, of 64 KiB.
import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { expect } from 'chai';
import { execa } from 'execa';
import { createConcurrencyLimit } from '../../packages/rdpipe/src/session/concurrency-limit.ts';
import { ARM64_BUILD, useArm64Programs } from '../support/emulation.ts';
import { patience } from '../support/patience.ts';
import { KEY, useBench } from '../support/programs.ts';
import { expectBranchesChecked, expectGuards, expectLoadedAnywhere } from '../support/protections.ts';
import { ROOT } from '../support/root.ts';
import { makeTree } from '../support/tree-fixtures.ts';

const SUITES = readdirSync(join(ROOT, 'packages'), { recursive: true, encoding: 'utf8' })
  .filter((file) => /^[a-z]+-native\/test\/\w+_test\.c$/.test(file))
  .map((file) => file.replace(/\.c$/, ''));

const NO_FILTER = 'qemu-user takes no seccomp filter, by which the suite makes an older kernel';
const NO_OPENAT2 = 'qemu-user before 9.1 has no openat2(2)';
const NO_SUBREAPER = 'qemu-user before 8.2 has no PR_SET_CHILD_SUBREAPER';
/** Suites that the emulator cannot run, with the reason; they run on x86-64. */
const NOT_EMULATED: Readonly<Record<string, string>> = {
  holes: NO_FILTER,
  source: NO_FILTER,
  root: NO_OPENAT2,
  clients: NO_OPENAT2,
  guardian: NO_SUBREAPER,
  process_tree: NO_SUBREAPER,
};
/** Suites that depend on the page size; Grace CPUs may have pages of 64 KiB. */
const OF_PAGES = ['connection', 'handshake', 'held', 'pool', 'ring', 'transport', 'window', 'writer'];
const LARGE_PAGES = { QEMU_PAGESIZE: '65536' };
/** Started first, because they take longest. */
const LONG = ['loops', 'reconnect', 'program_violations'];
/** Suites that run at once: they mostly wait. */
const AT_ONCE = 4;
const LONGEST_MS = patience(900_000);

interface Case {
  readonly suite: string;
  readonly env: NodeJS.ProcessEnv;
  readonly title: string;
  readonly notEmulated: string | undefined;
}

const CASES = [
  ...SUITES.map((path) => caseOf(path, '')),
  ...SUITES.filter((path) => OF_PAGES.includes(nameOf(path))).map((path) =>
    caseOf(path, ', pages of 64 KiB', LARGE_PAGES),
  ),
].sort((left, right) => Number(isLong(right)) - Number(isLong(left)));

describe('a C suite on arm64', function () {
  this.timeout(LONGEST_MS);
  useArm64Programs('all', 'test-programs');
  const runs = new Map<Case, Promise<string>>();
  before(() => {
    const limit = createConcurrencyLimit(AT_ONCE);
    for (const one of CASES)
      if (one.notEmulated === undefined)
        runs.set(
          one,
          limit(new AbortController().signal, () => complaintsOf(one)),
        );
  });

  for (const one of CASES) {
    if (one.notEmulated !== undefined) it.skip(`${one.title}: ${one.notEmulated}`);
    else it(one.title, async () => expect(await runs.get(one)).to.equal(''));
  }
});

describe('a program that is built for arm64', function () {
  this.timeout(LONGEST_MS);
  useArm64Programs('all');

  for (const kind of ['release', 'static'])
    for (const name of ['rdstage', 'rdhop', 'rdtree'])
      it(`${kind}/${name} is protected from mistakes`, () => {
        const file = join(ARM64_BUILD, '..', kind, name);
        expectLoadedAnywhere(file);
        expectGuards(file);
      });

  it('is protected from wrong branches: all objects of the project are', () => {
    expectBranchesChecked(join(ARM64_BUILD, 'librdendpoint.a'));
  });
});

describe('a confined program on arm64', function () {
  this.timeout(LONGEST_MS);
  useArm64Programs('all');
  const bench = useBench();

  it('makes no system call that its filter does not allow', async () => {
    makeTree(bench.path('tree'));
    const calls = new Set<string>();
    for (const [source, sink] of [
      ['big', 'copy'],
      ['tree', 'to/'],
    ] as const) {
      const { status, stdout, stderr } = await bench.bash(TRACED, ARM64_BUILD, source, sink).ended;
      expect(status, stderr).to.equal(0);
      for (const name of confinedCalls(stdout.toString())) calls.add(name);
    }
    expect(calls).to.include('sendmsg').and.include('mkdirat');
    expect([...calls].filter((name) => !FILTERED.has(name))).to.deep.equal([]);
  });
});

/**
 * A transfer that traces the system calls of rdsend and rdrecv, and of the programs that they start, to standard error.
 */
const TRACED = `
  [ -e big ] || head -c 20M /dev/urandom > big
  export QEMU_STRACE=1
  "$1/rdrecv" --encrypt always 0 ${KEY} "$3" 2> receiver & receiver=$!
  until port=$(grep -ao 'listening on port [0-9]*' receiver); do kill -0 $receiver || exit; done
  "$1/rdsend" --encrypt always --compress zstd 127.0.0.1 "\${port##* }" ${KEY} "$2" 2> sender; sent=$?
  wait $receiver && cat sender receiver && exit $sent`;

/** System calls that syscall_filter.c names, except those that end a program. */
const FILTERED = new Set(
  [
    ...readFileSync(join(ROOT, 'packages/rdbase-native/src/sandbox/syscall_filter.c'), 'utf8')
      .replace(/hostile\[\] = \{.*?\};/s, '')
      .matchAll(/\bSYS_(\w+)/g),
  ].map(([, name = '']) => name),
);

/**
 * System calls of processes that have tried to install the filter: `1234 openat(…) = 3`, not always on its own line.
 */
function confinedCalls(trace: string): string[] {
  const confined = new Set<string>();
  const calls: string[] = [];
  for (const [, pid = '', name = ''] of trace.matchAll(/(\d+) ([a-z_0-9]+)\(/g)) {
    if (confined.has(pid)) calls.push(name);
    if (name === 'seccomp') confined.add(pid);
  }
  return calls.filter((name) => name !== 'seccomp');
}

function caseOf(path: string, words: string, env: NodeJS.ProcessEnv = {}): Case {
  return { suite: path, env, title: `${nameOf(path)}${words}`, notEmulated: NOT_EMULATED[nameOf(path)] };
}

function nameOf(path: string): string {
  return basename(path).replace(/_test$/, '');
}

function isLong({ suite }: Case): boolean {
  return LONG.includes(nameOf(suite));
}

/** Returns the output of a suite that failed, otherwise ''. */
async function complaintsOf({ suite, env }: Case): Promise<string> {
  const { failed, all } = await execa(join(ARM64_BUILD, suite), {
    env: { ...env, RD_BIN: ARM64_BUILD },
    all: true,
    reject: false,
    timeout: LONGEST_MS,
    stdin: 'ignore',
  });
  return failed ? all : '';
}
