// SPDX-License-Identifier: Apache-2.0
// Memory of the programs of a copy: it does not grow with the number of entries in the tree.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { execaSync } from 'execa';
import type { Report } from '../../packages/rdpipe/src/model/report.ts';
import type { Lab } from '../support/lab.ts';
import { reportOf } from '../support/report.ts';
import { makeManyEntries } from '../support/tree-fixtures.ts';

const OF_EACH_MAX = 50_000;

/** Copies this many empty files, half of them hard links to others, and copies them again. */
export async function expectFlatMemory(lab: Lab, entries: number, mostKib: number): Promise<void> {
  mkdirSync(join(lab.directory, 'source'));
  const ofEach = Math.min(entries / 2, OF_EACH_MAX);
  for (let number = 0; number < entries / ofEach / 2; number += 1)
    makeManyEntries(join(lab.directory, `source/${number}`), ofEach);
  execaSync('cp', ['-al', join(lab.directory, 'source'), join(lab.directory, 'links')]);
  execaSync('mv', [join(lab.directory, 'links'), join(lab.directory, 'source/links')]);
  for (const _ of ['new', 'the same']) {
    const result = await lab.sh('rdcp --json -a --delete h1:$PWD/source/ h2:$PWD/target/');
    expect(result.status, result.stderr.slice(-2000)).to.equal(0);
    expectSmall(reportOf(result), mostKib);
  }
  const { stdout } = execaSync('rsync', ['-aHn', '--delete', '-i', 'source/', 'target/'], { cwd: lab.directory });
  expect(stdout.slice(0, 2000)).to.equal('');
}

function expectSmall({ stages, hops }: Report, mostKib: number): void {
  const ends = hops.flatMap(({ sender, receiver }) => [sender, receiver]);
  for (const usage of [...stages, ...ends]) expect(usage?.maxRssKib, JSON.stringify(usage)).to.be.below(mostKib);
}
