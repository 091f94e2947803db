// SPDX-License-Identifier: Apache-2.0
// A chain of four hosts, some of which are lost while the stream flows through it.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { eventually } from '../support/eventually.ts';
import type { Lab } from '../support/lab.ts';
import { childrenOf, type MarkedProcess, signalProcess } from '../support/processes.ts';
import type { Result } from '../support/shell.ts';

export const CHAIN = ['n1', 'n2', 'n3', 'n4'] as const;

/** The stream goes into a command or a file on each host. */
export type Output = 'command' | 'file';

export interface ChainRun {
  /** Ends the stream after the data that is under way, a few megabytes. */
  letEnd(): Promise<Result>;
  readonly result: Promise<Result>;
  /** Waits until the host has received more data than can have been under way. */
  progress(name: string): Promise<void>;
  /**
   * Expects that all hosts but the lost ones have the complete stream; on a lost host no command saw the end of the
   * stream, and no file was renamed.
   */
  expectCopies(lost: readonly string[]): Promise<void>;
}

/**
 * Starts a chain and waits until every host has received the beginning of the stream, which flows until letEnd(); with
 * `isHeld`, only until its first command runs, which writes nothing before letEnd().
 */
export async function startChain(lab: Lab, options: string, output: Output, isHeld = false): Promise<ChainRun> {
  for (const name of await lab.list()) await rm(join(lab.directory, name));
  const out = `${lab.directory}/out.$RDPIPE_HOST`;
  const held = 'touch started; until test -e begin; do sleep 0.02; done; head -c 4M /dev/urandom';
  const flows = 'until test -e end; do head -c 1M /dev/urandom; done';
  const source = `cd ${lab.directory}; { ${isHeld ? held : flows}; } | tee sent`;
  const part = output === 'file' ? `> ${out}` : `cat > ${out} && echo whole > ${lab.directory}/whole.$RDPIPE_HOST`;
  const stages = `h1:'${source}' 'n[1-4]:${part}'`;
  const running = lab.start(`exec rdpipe --limit 6MB/s ${options} ${stages} > /dev/null`);
  await eventually(async () => {
    if (isHeld) expect(await lab.list()).to.include('started');
    else
      for (const name of CHAIN)
        expect(Math.max(...processesOf(lab, name, 'rdrecv').map(writtenBy))).to.be.above(100_000);
  });
  const sent = join(lab.directory, 'sent');
  const digest = (data: Buffer) => createHash('sha256').update(data).digest('hex');
  return {
    result: running.result,
    async progress(name) {
      const written = () => Math.max(0, ...processesOf(lab, name, 'rdrecv').map(writtenBy));
      const before = written();
      await eventually(() => expect(written()).to.be.above(before + UNDER_WAY_BYTES));
    },
    async letEnd() {
      await writeFile(join(lab.directory, isHeld ? 'begin' : 'end'), '');
      return running.result;
    },
    async expectCopies(lost) {
      const names = await lab.list();
      const content = digest(await readFile(sent));
      for (const name of CHAIN) {
        const isLost = lost.includes(name);
        const mark = output === 'file' ? `out.${name}` : `whole.${name}`;
        expect(names.includes(mark), `${mark} among ${names}`).to.equal(!isLost);
        if (!isLost) expect(digest(await readFile(join(lab.directory, `out.${name}`))), name).to.equal(content);
      }
    },
  };
}

/** More than the rings of a chain hold. */
const UNDER_WAY_BYTES = 10_000_000;

/** Number of bytes written; the file itself has no name until it is complete. */
function writtenBy({ pid }: MarkedProcess): number {
  return Number(/^wchar: (\d+)$/m.exec(readFileSync(`/proc/${pid}/io`, 'utf8'))?.[1]);
}

export function processesOf(lab: Lab, name: string, program?: string): MarkedProcess[] {
  const its = lab.processes().filter(({ home }) => home === lab.host(name).home);
  return its.filter((process) => program === undefined || process.program === program);
}

/** Everything of a host, the server of its session, or a program. */
export type Victim = 'host' | 'sshd' | 'rdrecv' | 'rdsend' | 'rdstage' | 'cat';

/** SIGSTOP before SIGKILL: as on a host that fails, no program sees another one end. */
export function kill(lab: Lab, name: string, victim: Victim = 'host'): void {
  const stopped = new Set<number>();
  const stopMore = () => {
    const more = victims(lab, name, victim).filter((pid) => !stopped.has(pid));
    for (const pid of more) signalProcess(pid, 'SIGSTOP');
    for (const pid of more) stopped.add(pid);
    return more.length > 0;
  };
  while (stopMore()); // a process that was just created is not found at once
  expect([...stopped]).to.have.length.greaterThan(0);
  for (const pid of stopped) signalProcess(pid, 'SIGKILL');
}

function victims(lab: Lab, name: string, victim: Victim): readonly number[] {
  if (victim === 'sshd') return childrenOf(lab.host(name).pid);
  return processesOf(lab, name, victim === 'host' ? undefined : victim).map(({ pid }) => pid);
}
