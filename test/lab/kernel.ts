// SPDX-License-Identifier: Apache-2.0
// The hosts' kernel: Debian's, unpacked in the cache. (The cloud kernel has neither 9p nor rxe.)
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { execaSync } from 'execa';
import { CACHE } from './place.ts';
import { vmlinuxOf } from './vmlinux.ts';

export interface Kernel {
  /** The release as printed by `uname -r`. */
  readonly release: string;
  readonly vmlinux: string;
  /** The directory that contains lib/modules. */
  readonly tree: string;
}

/** A release of Debian; `own`: that of this machine. */
export type DebianRelease = 'own' | 'bullseye';

const META_PACKAGE = 'linux-image-amd64';

export function kernelIsHere(debian: DebianRelease = 'own'): boolean {
  return existsSync(directoryOf(debian));
}

function directoryOf(debian: DebianRelease): string {
  return join(CACHE, debian === 'own' ? 'kernel' : `kernel-${debian}`);
}

/** Returns the kernel in the cache; without one, downloads the newest kernel of that release. */
export function theKernel(debian: DebianRelease, say: (line: string) => void): Kernel {
  const directory = directoryOf(debian);
  if (!kernelIsHere(debian)) fetchKernel(debian, say);
  return {
    release: readFileSync(join(directory, 'release'), 'utf8'),
    vmlinux: join(directory, 'vmlinux'),
    tree: join(directory, 'tree'),
  };
}

/** Adds the kernel to the cache atomically. */
function fetchKernel(debian: DebianRelease, say: (line: string) => void): void {
  mkdirSync(CACHE, { recursive: true });
  const scratch = mkdtempSync(join(CACHE, 'new-'));
  try {
    const apt = debian === 'own' ? [] : aptOf(debian, scratch);
    const image = newestImage(apt);
    say(`downloading ${image} into ${CACHE}`);
    execaSync('apt-get', [...apt, '-qq', 'download', image], { cwd: scratch });
    unpack(scratch, image.replace(/^linux-image-/, ''));
    if (!kernelIsHere(debian)) renameSync(scratch, directoryOf(debian));
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

/** Options with which apt knows only the packages of another release, and keeps its files in `directory`. */
function aptOf(debian: DebianRelease, directory: string): string[] {
  const sources = join(directory, 'sources');
  const keys = '/usr/share/keyrings/debian-archive-keyring.gpg';
  writeFileSync(sources, `deb [signed-by=${keys}] http://deb.debian.org/debian ${debian} main\n`);
  for (const name of ['lists', 'cache/archives']) mkdirSync(join(directory, name, 'partial'), { recursive: true });
  const settings = { 'Etc::SourceList': 'sources', 'State::lists': 'lists', Cache: 'cache' };
  const places = Object.entries(settings).map(([name, path]) => `Dir::${name}=${join(directory, path)}`);
  return [...places, 'Dir::Etc::SourceParts=/dev/null'].flatMap((setting) => ['-o', setting]);
}

function newestImage(apt: readonly string[]): string {
  const known = imageKnownToApt(apt);
  if (known !== undefined) return known;
  execaSync('apt-get', [...apt, '-qq', 'update']);
  const image = imageKnownToApt(apt);
  if (image === undefined) throw new Error(`apt knows no ${META_PACKAGE}: the lab's hosts run Debian's kernel`);
  return image;
}

function imageKnownToApt(apt: readonly string[]): string | undefined {
  const words = [...apt, 'depends', '--important', META_PACKAGE];
  return execaSync('apt-cache', words, { lines: true, reject: false })
    .stdout.find((line) => line.includes('Depends: linux-image-'))
    ?.replace(/^.*: /, '');
}

function unpack(directory: string, release: string): void {
  const archive = readdirSync(directory).find((name) => name.endsWith('.deb'));
  if (archive === undefined) throw new Error(`apt-get download left no package in ${directory}`);
  const tree = join(directory, 'tree');
  execaSync('dpkg-deb', ['-x', join(directory, archive), tree]);
  rmSync(join(directory, archive));
  if (!existsSync(join(tree, 'lib'))) symlinkSync('usr/lib', join(tree, 'lib'));
  execaSync('depmod', ['-b', tree, release]);
  writeFileSync(join(directory, 'vmlinux'), vmlinuxOf(readFileSync(join(tree, 'boot', `vmlinuz-${release}`))));
  writeFileSync(join(directory, 'release'), release);
}
