// SPDX-License-Identifier: Apache-2.0
// Tests of other programs with rdssh: each works, and its data goes over hops.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { type Lab, useLab } from '../support/lab.ts';
import { needsTool } from '../support/needs.ts';
import { patience } from '../support/patience.ts';
import { succeeded } from '../support/shell.ts';
import type { Sizes, Use } from './programs.ts';

const MIB = 1 << 20;

export function describePrograms(all: readonly Use[], { mib }: Sizes, longestMs?: number): void {
  describe('rdssh is the ssh of', function () {
    if (longestMs !== undefined) this.timeout(patience(longestMs));
    const lab = useLab(longestMs === undefined ? {} : { longestMs });
    describe('other programs', () => tests(lab, all, mib));
  });
}

/** In a nested describe(), because its hooks run before the lab checks for processes that are left. */
function tests(lab: Lab, all: readonly Use[], mib: number): void {
  afterEach(() => lab.endKeptConnections());
  for (const { title, tools, times, script } of all)
    it(title, async function () {
      needsTool(this, ...tools);
      const log = join(lab.directory, 'rdssh.log');
      const { home } = lab.host('h1');
      succeeded(await lab.sh(`rm -rf ${home}/*\n${script}`, { H1: home, RDSSH_OPTIONS: `-v -E ${log}` }), '');
      const text = readFileSync(log, 'utf8');
      // A session of ssh itself would write this line; git's `ssh -G` before its session does not.
      expect(text).not.to.include('Entering interactive session');
      expect(carried(text)).to.be.at.least(times * mib * MIB);
    });
}

const UNITS: Readonly<Record<string, number>> = { B: 1, KiB: 2 ** 10, MiB: 2 ** 20, GiB: 2 ** 30 };

/** The sum of the hops' bytes in the summaries of -v, which are rounded. */
function carried(log: string): number {
  const hops = [...log.matchAll(/ (?:delivered|closed) +([\d.]+) (B|KiB|MiB|GiB)[ ,]/g)];
  return hops.reduce((sum, [, count, unit = '']) => sum + Number(count) * (UNITS[unit] ?? 0), 0);
}
