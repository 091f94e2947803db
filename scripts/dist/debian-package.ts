// SPDX-License-Identifier: Apache-2.0
// The packages for Debian and Ubuntu: an installed copy below /usr, with its dependencies.
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { execa } from 'execa';
import { makeDeb } from './archive.ts';
import { removeBrokenLinks } from './documents.ts';
import { type Release, readManifest } from './release.ts';
import { dynamicPrograms, installSystemTree } from './system-tree.ts';

/** Debian's names of CPUs, by the names of `uname -m`. */
export const DEB_ARCHITECTURES: Readonly<Record<string, string>> = { x86_64: 'amd64', aarch64: 'arm64' };

const RECOMMENDED = ['ibverbs-providers', 'libibverbs1', 'librdmacm1'];

/** Creates the package for machines with one CPU; it also has the programs for hosts with the others. */
export async function makeDebianPackage(release: Release, cpu: string): Promise<void> {
  const { dist, scratch, version, epoch } = release;
  const architecture = DEB_ARCHITECTURES[cpu];
  if (architecture === undefined) throw new Error(`Debian's name of ${cpu} is not known`);
  const directory = join(scratch, architecture);
  const documents = await installSystemTree(release, directory, 'ZSH_COMPLETION=share/zsh/vendor-completions');
  adaptDocuments(release, documents);
  const control = controlText(release, architecture, await libraryPackages(release, directory, cpu));
  makeDeb(directory, control, join(dist, `rdpipe_${version}_${architecture}.deb`), epoch);
}

function adaptDocuments(release: Release, directory: string): void {
  const { version, epoch } = release;
  const { author } = readManifest(release);
  // Debian itself has the text of the licence.
  rmSync(join(directory, 'LICENSE'));
  removeBrokenLinks(directory);
  writeFileSync(join(directory, 'copyright'), copyrightText(author, new Date(epoch * 1000).getUTCFullYear()));
  const date = new Date(epoch * 1000).toUTCString().replace('GMT', '+0000');
  const entry = `rdpipe (${version}) unstable; urgency=medium\n\n  * See CHANGELOG.md.\n\n -- ${author}  ${date}\n`;
  writeFileSync(join(directory, 'changelog.gz'), gzipSync(entry, { level: 9 }));
}

function copyrightText(author: string, year: number): string {
  const name = author.replace(/ <.*/, '');
  return `Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: rdpipe
Comment: THIRD-PARTY-NOTICES lists the parts that others made, with their licences.

Files: *
Copyright: ${year} ${name}
License: Apache-2.0
 The text of the licence is in /usr/share/common-licenses/Apache-2.0.
`;
}

function controlText(release: Release, architecture: string, libraries: string): string {
  const { author, description, engines } = readManifest(release);
  const node = `nodejs (${engines.node.replace('>=', '>= ')})`;
  return `Package: rdpipe
Version: ${release.version}
Architecture: ${architecture}
Maintainer: ${author}
Section: net
Priority: optional
Depends: ${node}, openssh-client, ${libraries}
Recommends: ${RECOMMENDED.join(', ')}
Description: ${description.slice(0, 1).toLowerCase()}${description.slice(1)}
 rdpipe runs each command of a pipeline on its own host and connects the
 commands with pipes straight from host to host, over RDMA or TCP.
 rdcp copies files and directory trees in the same way. Only the machine on
 which you run them needs the package: rdpipe copies its programs to the
 other hosts over ssh.
`;
}

/** Returns the libraries that the dynamic programs of this CPU need: `libc6 (>= 2.34), libssl3 (>= 3.0.0)`. */
async function libraryPackages({ scratch }: Release, directory: string, cpu: string): Promise<string> {
  const source = join(scratch, 'shlibdeps');
  mkdirSync(join(source, 'debian'), { recursive: true });
  writeFileSync(join(source, 'debian/control'), 'Source: rdpipe\n\nPackage: rdpipe\nArchitecture: any\n');
  const words = ['-O', ...dynamicPrograms(directory, cpu).flatMap((program) => ['-e', program])];
  const env = { DEB_HOST_ARCH: `${DEB_ARCHITECTURES[cpu]}` };
  const { stdout } = await execa('dpkg-shlibdeps', words, { cwd: source, env, stderr: 'ignore' });
  return stdout.replace(/^shlibs:Depends=/, '');
}
