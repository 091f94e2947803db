// SPDX-License-Identifier: Apache-2.0
// The machine and the checkout with which figures were measured.
import { readFileSync } from 'node:fs';
import { cpus, totalmem } from 'node:os';
import { ROOT } from '../support/root.ts';
import { output } from '../support/run-program.ts';
import { GIB } from './case.ts';
import { congestionControl } from './loopback/congestion.ts';

export interface Machine {
  readonly date: string;
  /** The commit, with a + if files differ from it. */
  readonly commit: string;
  readonly processor: string;
  readonly cores: number;
  readonly memoryGib: number;
  readonly system: string;
  readonly kernel: string;
  /** TCP's congestion control. */
  readonly congestion: string;
}

export function thisMachine(): Machine {
  return {
    date: new Date().toISOString().slice(0, 10),
    commit: commit(),
    processor: cpus()[0]?.model ?? 'unknown',
    cores: cpus().length,
    memoryGib: Math.round(totalmem() / GIB),
    system: /^PRETTY_NAME="(.*)"$/m.exec(readFileSync('/etc/os-release', 'utf8'))?.[1] ?? 'unknown',
    kernel: output('uname', ['-r']).toString().trim(),
    congestion: congestionControl(),
  };
}

/** "2 cores of AMD EPYC, 24 GiB, Debian GNU/Linux 12 (bookworm), kernel 6.18, congestion control bbr". */
export function inWords({ cores, processor, memoryGib, system, kernel, congestion }: Machine): string {
  return `${cores} cores of ${processor}, ${memoryGib} GiB, ${system}, kernel ${kernel}, congestion control ${congestion}`;
}

function commit(): string {
  const git = (...words: string[]) =>
    output('git', ['-C', ROOT, ...words])
      .toString()
      .trim();
  return git('rev-parse', '--short', 'HEAD') + (git('status', '--porcelain', '--untracked-files=no') === '' ? '' : '+');
}
