// SPDX-License-Identifier: Apache-2.0
// A release: what all of its packages are made of and where they go.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { execa } from 'execa';

export interface Release {
  /** The checkout. */
  readonly root: string;
  /** Gets the packages. */
  readonly dist: string;
  /** A directory for the trees that packages are made of. */
  readonly scratch: string;
  readonly version: string;
  /** The time of every file, in seconds. */
  readonly epoch: number;
  /** As `uname -m` prints them. */
  readonly cpus: readonly string[];
  /** Files that every package holds: the notices, the list of components, the licence. */
  readonly papers: readonly string[];
}

/** Of packages/rdpipe/package.json. */
export interface Manifest {
  readonly name: string;
  readonly description: string;
  readonly license: string;
  readonly author: string;
  readonly engines: { readonly node: string };
  readonly os: readonly string[];
}

export function readManifest({ root }: Release): Manifest {
  return JSON.parse(readFileSync(join(root, 'packages/rdpipe/package.json'), 'utf8'));
}

/** Installs into a directory as `make install` does, for other machines. `words` are variables of make. */
export async function installInto(
  { root, cpus }: Release,
  directory: string,
  prefix: string,
  ...words: readonly string[]
): Promise<void> {
  const options = { cwd: root, stdout: 'ignore', stderr: 'inherit' } as const;
  await execa(
    'make',
    ['-s', 'install', `DESTDIR=${directory}`, `PREFIX=${prefix}`, 'PACKAGE=1', `CPUS=${cpus.join(' ')}`, ...words],
    options,
  );
}
