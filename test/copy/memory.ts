// SPDX-License-Identifier: Apache-2.0
// Memory of the programs of a copy: it does not grow with the number of entries in the tree, nor with their attributes.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { execaSync } from 'execa';
import type { Report } from '../../packages/rdpipe/src/model/report.ts';
import { expectCopy } from '../support/judge.ts';
import type { Lab } from '../support/lab.ts';
import { reportOf } from '../support/report.ts';
import { makeManyEntries } from '../support/tree-fixtures.ts';

/**
 * Copies this many empty files, half of them hard links to others, and copies them again; at most `inEach` are in a
 * directory.
 */
export async function expectFlatMemory(
  lab: Lab,
  { entries, inEach }: { readonly entries: number; readonly inEach: number },
  mostKib: number,
): Promise<void> {
  mkdirSync(join(lab.directory, 'source'));
  const ofEach = Math.min(entries / 2, inEach);
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

const ATTRIBUTES_OF_EACH = 64;
/** The largest that Linux has. */
const ATTRIBUTE_BYTES = 64 * 1024;

/** Copies this many files and directories with large attributes to a disk that has room for them. */
export async function expectFlatMemoryOfAttributes(
  lab: Lab,
  disk: string,
  entries: number,
  mostKib: number,
): Promise<void> {
  const [source, target] = ['source', 'target'].map((name) => join(disk, name)) as [string, string];
  mkdirSync(source);
  for (let number = 0; number < entries; number += 1) {
    if (number % 2 === 0) mkdirSync(join(source, `${number}`));
    else writeFileSync(join(source, `${number}`), '');
    execaSync('setfattr', ['--restore=-'], { cwd: source, input: attributesOf(`${number}`) });
  }
  const result = await lab.sh(`rdcp --json -aX h1:${source}/ h2:${target}/`);
  expect(result.status, result.stderr.slice(-2000)).to.equal(0);
  expectSmall(reportOf(result), mostKib);
  expectCopy(source, target);
}

/** As getfattr prints them; every value differs, because ext4 stores equal ones once. */
function attributesOf(name: string): string {
  const lines = Array.from({ length: ATTRIBUTES_OF_EACH }, (_, number) => {
    const value = `${name} ${number} `.padEnd(ATTRIBUTE_BYTES, 'x');
    return `user.a${number}=${JSON.stringify(value)}`;
  });
  return [`# file: ${name}`, ...lines, ''].join('\n');
}

function expectSmall({ stages, hops }: Report, mostKib: number): void {
  const ends = hops.flatMap(({ sender, receiver }) => [sender, receiver]);
  for (const usage of [...stages, ...ends]) expect(usage?.maxRssKib, JSON.stringify(usage)).to.be.below(mostKib);
}
