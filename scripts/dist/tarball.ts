// SPDX-License-Identifier: Apache-2.0
// The tarball: a prefix, which runs where it is unpacked, or below ~/.local or /usr/local.
import { copyFileSync, mkdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { makeTarGz } from './archive.ts';
import { installInto, type Release } from './release.ts';

export async function makeTarball(release: Release): Promise<void> {
  const { dist, scratch, version, epoch, papers } = release;
  const name = `rdpipe-${version}`;
  const directory = join(scratch, 'tarball');
  await installInto(release, directory, '/');
  const doc = join(directory, 'share/doc/rdpipe');
  mkdirSync(doc, { recursive: true });
  for (const paper of papers) copyFileSync(paper, join(doc, basename(paper)));
  makeTarGz(directory, join(dist, `${name}-linux.tar.gz`), name, epoch);
}
