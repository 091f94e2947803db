// SPDX-License-Identifier: Apache-2.0
// Interrupted copies: old files stay intact,
// and the next run completes the copy and leaves nothing else.
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import type { Report } from '../../packages/rdpipe/src/model/report.ts';
import { eventually } from '../support/eventually.ts';
import { expectCopy, temporariesIn } from '../support/judge.ts';
import type { Lab } from '../support/lab.ts';
import { type MarkedProcess, signalProcess } from '../support/processes.ts';
import { reportOf } from '../support/report.ts';
import type { Running } from '../support/shell.ts';
import { bytes, makeSmallFiles } from '../support/tree-fixtures.ts';

/**
 * begin: the programs of the copy run, contents are not sent yet. temporary: something was written under another name.
 * half: half of the copy was written. published: a new file has its final name. end: the last file has, and metadata of
 * directories is next.
 */
const PHASES = ['begin', 'temporary', 'half', 'published', 'end'] as const;
type Phase = (typeof PHASES)[number];

/** Number of processes of each program in a copy from host to host. */
const PROGRAMS = { node: 1, ssh: 4, rdstage: 6, rdsend: 3, rdrecv: 3, rdtree: 4 } as const;
type ProgramName = keyof typeof PROGRAMS;

export interface KillCell {
  readonly phase: Phase;
  readonly program: ProgramName;
  /** Position among the processes of this program, by age. */
  readonly place: number;
}

export const KILL_CELLS: readonly KillCell[] = PHASES.flatMap((phase) =>
  Object.entries(PROGRAMS).flatMap(([program, count]) =>
    Array.from({ length: count }, (_, place) => ({ phase, program: program as ProgramName, place })),
  ),
);

const DIRECTORIES = 30;
const FILES_OF_EACH = 40;
const LARGE_BYTES = 16 * 1024 * 1024;
/** Makes a phase last long enough to be noticed. */
const SLOWLY = { begin: '--limit 20k', later: '--limit 10M' };
/** A peer waits for a killed process no longer than 3 s (--stall-timeout). */
const LIMITS = '--lease 15 --stall-timeout 3';

export function nameOf({ phase, program, place }: KillCell): string {
  return `${phase}: ${program} ${place + 1} of ${PROGRAMS[program]}`;
}

/** Kills one process of a copy and copies again. */
export async function tryKill(lab: Lab, cell: KillCell): Promise<void> {
  const copy = new InterruptedCopy(lab);
  copy.prepare();
  const running = copy.start(`${LIMITS} ${cell.phase === 'begin' ? SLOWLY.begin : SLOWLY.later}`);
  await running.reached(cell.phase);
  const victim = running.find(cell.program, cell.place);
  if (victim !== undefined) signalProcess(victim.pid, 'SIGKILL');
  const { status, stderr } = await running.result;
  await lab.expectNothingLeft();
  // Programs of the first hops end long before the copy; at the beginning all of them run.
  if (cell.phase === 'begin') expect(victim, 'the process to kill is not there').not.to.equal(undefined);
  if (victim !== undefined && !copy.isDone) expect(status, stderr).not.to.equal(0);
  copy.expectOldOrNew();
  await copy.complete();
}

/** A copy from h1 to h2, into a directory that has older files. */
export class InterruptedCopy {
  readonly #lab: Lab;
  readonly #target: string;
  readonly #largeBytes: number;
  readonly #old = new Map<string, Buffer>();

  constructor(lab: Lab, target = join(lab.directory, 'target'), largeBytes = LARGE_BYTES) {
    this.#lab = lab;
    this.#target = target;
    this.#largeBytes = largeBytes;
  }

  get source(): string {
    return join(this.#lab.directory, 'source');
  }

  prepare(): void {
    makeSmallFiles(this.source, DIRECTORIES, FILES_OF_EACH);
    writeFileSync(join(this.source, 'large'), bytes(this.#largeBytes, 1));
    mkdirSync(join(this.source, 'package-0/empty'));
    mkdirSync(join(this.#target, 'package-1'), { recursive: true });
    for (const path of ['package-1/file-1.js', 'package-1/file-2.js', 'large']) {
      this.#old.set(path, Buffer.from(`old content of ${path}\n`));
      writeFileSync(join(this.#target, path), `old content of ${path}\n`);
    }
  }

  start(options = ''): RunningCopy {
    return new RunningCopy(this.#lab, this.#lab.start(this.commandLine(options)), this.#target);
  }

  commandLine(options: string): string {
    return `exec rdcp -a --delete ${options} h1:${this.source}/ h2:${this.#target}/`;
  }

  get target(): string {
    return this.#target;
  }

  /** Relative paths of the files at the target that have their final names. */
  get files(): readonly string[] {
    return filesIn(this.#target);
  }

  /** The same copy to another directory. */
  onto(target: string): InterruptedCopy {
    return new InterruptedCopy(this.#lab, target);
  }

  /** True if every file has its final name. */
  get isDone(): boolean {
    return namesIn(this.#target).length >= namesIn(this.source).length;
  }

  /** Expects that each file in `directory` has its old or its new content; default: the target. */
  expectOldOrNew(directory = this.#target): void {
    for (const path of filesIn(directory)) {
      const content = readFileSync(join(directory, path));
      const isNew = content.equals(readFileSync(join(this.source, path)));
      expect(isNew || this.#old.get(path)?.equals(content), `${path} has ${content.length} bytes`).to.equal(true);
    }
    for (const path of this.#old.keys()) expect(filesIn(directory)).to.include(path);
  }

  /**
   * Runs the copy to its end and expects a complete copy and nothing else. Returns the number of bytes that it resumed
   * instead of sending them again.
   */
  async complete(): Promise<number> {
    const result = await this.#lab.sh(this.commandLine('--json'));
    expect(result.status, result.stderr).to.equal(0);
    expectCopy(this.source, this.#target);
    expect(temporariesIn(this.#target)).to.deep.equal([]);
    const { copy } = reportOf(result) as Report & { readonly copy?: { readonly resumedBytes: number } };
    return copy?.resumedBytes ?? 0;
  }
}

class RunningCopy {
  readonly #lab: Lab;
  readonly #running: Running;
  readonly #target: string;
  #ended = false;

  constructor(lab: Lab, running: Running, target: string) {
    this.#lab = lab;
    this.#running = running;
    this.#target = target;
    void running.result.then(() => {
      this.#ended = true;
    });
  }

  get result(): Running['result'] {
    return this.#running.result;
  }

  get pid(): number {
    return this.#running.pid;
  }

  /** Waits until the copy has reached the phase, or has ended. */
  async reached(phase: Phase): Promise<void> {
    await eventually(() => {
      if (!this.#ended && !this.#is(phase)) throw new Error(`the copy did not reach: ${phase}`);
    });
  }

  /** Finds a process of the program; if some have ended, as scan soon does, one of the others. */
  find(program: ProgramName, place: number): MarkedProcess | undefined {
    const found = this.#lab.processes().filter((process) => process.program === program);
    return found.sort((one, other) => one.pid - other.pid)[place % found.length];
  }

  /** Size of the largest file under a temporary name. */
  get temporaryBytes(): number {
    return Math.max(0, ...temporariesIn(this.#target).map(bytesOf));
  }

  #is(phase: Phase): boolean {
    const all = DIRECTORIES * FILES_OF_EACH + 1;
    const named = filesIn(this.#target).length;
    switch (phase) {
      case 'begin':
        return this.find('rdtree', 0) !== undefined;
      case 'temporary':
        return temporariesIn(this.#target).length > 0 || named > 3;
      case 'half':
        return temporariesIn(this.#target).length + named > all / 2 || this.temporaryBytes > LARGE_BYTES / 2;
      case 'published':
        return named > 3;
      case 'end':
        return named === all;
    }
  }
}

/** Relative paths of the regular files that have their final names. */
function filesIn(directory: string): string[] {
  return namesIn(directory).filter((path) => statSync(join(directory, path), { throwIfNoEntry: false })?.isFile());
}

function namesIn(directory: string): string[] {
  const names = readdirSync(directory, { recursive: true, encoding: 'utf8' });
  return names.filter((path) => !/(^|\/)\.rdcp/.test(path) && path !== 'lost+found');
}

function bytesOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}
