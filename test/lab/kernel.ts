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

const DIRECTORY = join(CACHE, 'kernel');
const META_PACKAGE = 'linux-image-amd64';

export function kernelIsHere(): boolean {
  return existsSync(DIRECTORY);
}

/** Returns the kernel in the cache; without one, downloads the newest kernel that apt knows. */
export function theKernel(say: (line: string) => void): Kernel {
  if (!kernelIsHere()) fetchKernel(say);
  return {
    release: readFileSync(join(DIRECTORY, 'release'), 'utf8'),
    vmlinux: join(DIRECTORY, 'vmlinux'),
    tree: join(DIRECTORY, 'tree'),
  };
}

/** Adds the kernel to the cache atomically. */
function fetchKernel(say: (line: string) => void): void {
  const image = newestImage();
  say(`downloading ${image} into ${CACHE}`);
  mkdirSync(CACHE, { recursive: true });
  const scratch = mkdtempSync(join(CACHE, 'kernel-'));
  try {
    execaSync('apt-get', ['-qq', 'download', image], { cwd: scratch });
    unpack(scratch, image.replace(/^linux-image-/, ''));
    if (!kernelIsHere()) renameSync(scratch, DIRECTORY);
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

function newestImage(): string {
  const known = imageKnownToApt();
  if (known !== undefined) return known;
  execaSync('apt-get', ['-qq', 'update']);
  const image = imageKnownToApt();
  if (image === undefined) throw new Error(`apt knows no ${META_PACKAGE}: the lab's hosts run Debian's kernel`);
  return image;
}

function imageKnownToApt(): string | undefined {
  const words = ['depends', '--important', META_PACKAGE];
  return execaSync('apt-cache', words, { lines: true })
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
