// SPDX-License-Identifier: Apache-2.0
// The tarball: a prefix that runs wherever it is unpacked, such as ~/.local or /usr/local.
import { copyFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { makeTarGz } from './archive.ts';
import { installInto, type Release } from './release.ts';

export async function makeTarball(release: Release): Promise<void> {
  const { dist, scratch, version, epoch, papers } = release;
  const name = `rdpipe-${version}`;
  const directory = join(scratch, 'tarball');
  await installInto(release, directory, '/');
  for (const paper of papers) copyFileSync(paper, join(directory, 'share/doc/rdpipe', basename(paper)));
  makeTarGz(directory, join(dist, `${name}-linux.tar.gz`), name, epoch);
}
