// SPDX-License-Identifier: Apache-2.0
// An installed copy below /usr, as packages of a distribution contain it.
import { copyFileSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { execa } from 'execa';
import { EXAMPLES } from './documents.ts';
import { installInto, type Release } from './release.ts';

/** The programs that are linked with libraries of the system. */
const DYNAMIC = ['rdstage', 'rdhop', 'rdtree'];

/** Installs into `directory`, which is created; returns the directory of the documents. `words`: variables of make. */
export async function installSystemTree(
  release: Release,
  directory: string,
  ...words: readonly string[]
): Promise<string> {
  await installInto(release, directory, '/usr', ...words);
  // The package manager has this list.
  rmSync(join(directory, 'usr/lib/rdpipe/installed'));
  await execa('gzip', ['-9n', '--recursive', join(directory, 'usr/share/man')]);
  const documents = join(directory, 'usr/share/doc/rdpipe');
  for (const paper of release.papers) copyFileSync(paper, join(documents, basename(paper)));
  for (const name of EXAMPLES) {
    const unit = join(documents, 'examples', name);
    writeFileSync(unit, readFileSync(unit, 'utf8').replaceAll('/usr/local/bin/', '/usr/bin/'));
  }
  return documents;
}

/** Returns the dynamic programs for this CPU in a tree. */
export function dynamicPrograms(directory: string, cpu: string): string[] {
  const programs = join(directory, `usr/lib/rdpipe/build/rdpipe/native/linux-${cpu}/dynamic`);
  return DYNAMIC.map((name) => join(programs, name));
}
