// SPDX-License-Identifier: Apache-2.0
// The package for npm: lib/rdpipe of an installed copy, with manual pages, documents and completion.
import { copyFileSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { execa } from 'execa';
import { makeTarGz } from './archive.ts';
import { installInto, type Release, readManifest } from './release.ts';

/** Programs for two CPUs fit, about 12.5 MB; with more, the file would be too large to download for one of them. */
const BYTES_MAX = 14_000_000;
/** Names in bin/ of an installed copy: npm has no links, so one file, bin/program, starts all native programs. */
const NATIVE = ['rdssh', 'rdsend', 'rdrecv', 'rdstage', 'rdtree'];
/** Node's names of CPUs, by the names of `uname -m`. */
const NODE_CPUS: Readonly<Record<string, string>> = { x86_64: 'x64', aarch64: 'arm64' };

export async function makeNpmPackage(release: Release): Promise<void> {
  const { root, dist, scratch, version, papers, epoch } = release;
  const prefix = join(scratch, 'npm');
  await installInto(release, prefix, '/');
  const directory = join(prefix, 'lib/rdpipe');
  for (const name of NATIVE) rmSync(join(directory, 'bin', name));
  rmSync(join(directory, 'ssh/ssh'));
  copyFileSync(join(directory, 'bin/program'), join(directory, 'ssh/ssh'));
  rmSync(join(directory, 'installed'));
  const documents = join(prefix, 'share/doc/rdpipe');
  for (const name of readdirSync(documents)) renameSync(join(documents, name), join(directory, name));
  rmSync(join(prefix, 'share/doc'), { recursive: true });
  // npm drops links.
  await execa('cp', ['-RL', join(prefix, 'share'), directory]);
  copyFileSync(join(root, 'scripts/dist/place-completion.sh'), join(directory, 'share/place-completion.sh'));
  for (const paper of papers) copyFileSync(paper, join(directory, basename(paper)));
  writeFileSync(join(directory, 'package.json'), `${JSON.stringify(manifest(release, directory), null, 2)}\n`);
  pack(directory, join(dist, `rdpipe-${version}.tgz`), epoch);
}

function manifest(release: Release, directory: string): object {
  const { name, description, license, author, engines, os } = readManifest(release);
  const pages = readdirSync(join(directory, 'share/man/man1')).sort();
  return {
    name,
    version: release.version,
    description,
    license,
    author,
    engines,
    os,
    cpu: release.cpus.map((cpu) => NODE_CPUS[cpu]),
    bin: {
      rdpipe: 'bin/rdpipe',
      rdcp: 'bin/rdcp',
      ...Object.fromEntries(NATIVE.map((program) => [program, 'bin/program'])),
    },
    man: pages.map((page) => `share/man/man1/${page}`),
    // npm itself links only programs and manual pages into its prefix.
    scripts: { postinstall: 'sh share/place-completion.sh' },
  };
}

/** Packs as `npm pack` does, but independent of the umask and of the version of node. */
function pack(directory: string, file: string, epoch: number): void {
  makeTarGz(directory, file, 'package', epoch);
  const { size } = statSync(file);
  if (size > BYTES_MAX) throw new Error(`${file} has ${size} bytes (at most ${BYTES_MAX} are allowed)`);
}
