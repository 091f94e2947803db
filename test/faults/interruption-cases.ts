// SPDX-License-Identifier: Apache-2.0
// Runs whose native programs are stopped and continued all the time, which interrupts system calls (EINTR):
// they are slower, but whole.
import { type Lab, useLab } from '../support/lab.ts';
import { needsSightOfPrograms } from '../support/needs.ts';
import { signalProcess } from '../support/processes.ts';
import { succeeded } from '../support/shell.ts';

interface InterruptedRun {
  readonly title: string;
  /** `at`: the directory of the test. */
  readonly line: (at: string) => string;
  /** Fails unless the copy is whole. `homes`: the directory of the hosts' homes. */
  readonly comparison: (homes: string) => string;
}

export const INTERRUPTED_RUNS: readonly InterruptedRun[] = [
  {
    title: 'a pipeline',
    line: (at) => `rdpipe h1:'< ${at}/source' h2:cat h3:'> ${at}/copy'`,
    comparison: () => 'cmp source copy',
  },
  {
    title: 'a compressed and encrypted pipeline',
    line: (at) => `rdpipe --encrypt always --compress zstd --jobs 2 h1:'cat ${at}/source' h2:'> ${at}/copy'`,
    comparison: () => 'cmp source copy',
  },
  {
    title: 'one stream to several hosts',
    line: (at) => `rdpipe h1:'< ${at}/source' 'h[2-3]:> ${at}/copy$RDPIPE_RANK'`,
    comparison: () => 'cmp source copy0 && cmp source copy1',
  },
  {
    title: 'lines of several hosts',
    line: (at) => `rdpipe --no-prefix 'h[1-3]:cat ${at}/lines' > all`,
    comparison: () => 'cmp <(sort lines lines lines) <(sort all)',
  },
  {
    title: 'this machine at both ends',
    line: () => 'rdpipe h1:cat h2:cat < source > copy',
    comparison: () => 'cmp source copy',
  },
  {
    title: 'a copy of a tree',
    line: (at) => `rdcp -a h1:${at}/tree h2:${at}/copy`,
    comparison: () => 'diff -r tree copy/tree',
  },
  {
    title: 'a copy to several hosts',
    line: (at) => `rdcp -a h1:${at}/tree 'h[2-3]:~/'`,
    comparison: (homes) => `diff -r tree ${homes}/h2/tree && diff -r tree ${homes}/h3/tree`,
  },
  {
    title: 'a copy within a host',
    line: (at) => `rdcp -a h1:${at}/tree h1:${at}/copy`,
    comparison: () => 'diff -r tree copy/tree',
  },
];

const INTERRUPTIONS_MIN = 20;

const MAKE = `head -c 24M /dev/urandom > source; seq 300000 > lines; mkdir -p tree/below; cp source tree
for i in $(seq 200); do echo $i > tree/below/$i; done`;

export function describeInterruptions(runs: readonly InterruptedRun[]): void {
  describe('programs whose system calls are interrupted all the time carry', () => {
    before(function () {
      needsSightOfPrograms(this);
    });
    const lab = useLab();

    for (const { title, line, comparison } of runs)
      it(title, async () => {
        succeeded(await lab.sh(MAKE), '');
        // A run may end before it was interrupted often.
        for (let interrupted = 0; interrupted < INTERRUPTIONS_MIN; ) {
          const running = lab.start(`exec ${line(lab.directory)}`);
          interrupted += await interruptAll(lab, running.result);
          succeeded(await running.result, '');
          succeeded(await lab.sh(comparison(lab.homes)), '');
        }
      });
  });
}

/** Stops and continues the native programs until the run has ended; returns how often. */
async function interruptAll(lab: Lab, ended: Promise<unknown>): Promise<number> {
  let interrupted = 0;
  let isOver = false;
  void ended.finally(() => {
    isOver = true;
  });
  while (!isOver) {
    for (const { pid, program } of lab.processes()) {
      if (!program.startsWith('rd')) continue;
      for (const signal of ['SIGSTOP', 'SIGCONT'] as const) signalProcess(pid, signal);
      interrupted += 1;
    }
    await new Promise((resolve) => setImmediate(resolve));
  }
  return interrupted;
}
