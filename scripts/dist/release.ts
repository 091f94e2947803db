// SPDX-License-Identifier: Apache-2.0
// A release: the common inputs of all of its packages, and their destination.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { execa } from 'execa';

export interface Release {
  /** The checkout. */
  readonly root: string;
  /** The directory of the native programs, below `root`. */
  readonly native: string;
  /** The directory for the packages. */
  readonly dist: string;
  /** A temporary directory for the trees from which packages are made. */
  readonly scratch: string;
  readonly version: string;
  /** The time of every file, in seconds. */
  readonly epoch: number;
  /** As `uname -m` prints them. */
  readonly cpus: readonly string[];
  /** Files in every package: the notices, the bill of materials, the licence. */
  readonly papers: readonly string[];
}

/** Part of packages/rdpipe/package.json. */
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
  { root, native, cpus }: Release,
  directory: string,
  prefix: string,
  ...words: readonly string[]
): Promise<void> {
  const options = { cwd: root, stdout: 'ignore', stderr: 'inherit' } as const;
  const places = [`DESTDIR=${directory}`, `PREFIX=${prefix}`, `PACKAGE=${native}`];
  await execa('make', ['-s', 'install', ...places, `CPUS=${cpus.join(' ')}`, ...words], options);
}
