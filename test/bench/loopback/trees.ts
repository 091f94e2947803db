// SPDX-License-Identifier: Apache-2.0
// The trees that copies are measured with, and the disk that they are copied to.
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { execaSync } from 'execa';
import { ROOT } from '../../support/root.ts';

/** At the default size of a run. */
const SMALL_FILES = 50_000;
const EMPTY_FILES = 1_000_000;
const DEFAULT_MIB = 1024;
const EMPTY_OF_EACH = 1000;
/** 4 KiB on the average, when those of 64 KiB and more are left out. */
const AVERAGE_BYTES = 4096;
const LONGEST_KIB = 64;

/** `bytes`: about so many, the same for all copiers. */
export function smallFilesOf(mib: number): { readonly count: number; readonly bytes: number } {
  const count = Math.ceil((SMALL_FILES * mib) / DEFAULT_MIB);
  return { count, bytes: count * AVERAGE_BYTES };
}

/** Whole directories of them. */
export function emptyFilesOf(mib: number): number {
  return Math.ceil((EMPTY_FILES * mib) / DEFAULT_MIB / EMPTY_OF_EACH) * EMPTY_OF_EACH;
}

/** Of `directory`, as variables of the command lines. */
export function placesOf(directory: string): NodeJS.ProcessEnv {
  return {
    TREE: join(directory, 'tree'),
    EMPTY: join(directory, 'empty'),
    COPIES: join(directory, 'copies'),
    FRESH: join(directory, 'fresh-disk'),
    SSH_KEY: join(directory, 'homes/key'),
  };
}

/** In bash: the files of this checkout's node_modules, over and over, and empty ones. Both are read once. */
export function treeCommands(mib: number): readonly string[] {
  const { count } = smallFilesOf(mib);
  return [
    'rm -rf "$TREE" "$EMPTY" && mkdir "$TREE" "$EMPTY"',
    `cd '${join(ROOT, 'node_modules')}'`,
    `left=${count}; copy=0`,
    `files() { find . -type f -size -${LONGEST_KIB}k -print0 | sort -z | head -z -n $left; }`,
    'while [ $left -gt 0 ]; do copy=$((copy + 1)); mkdir "$TREE/$copy"',
    '  files | tar --null -T - -cf - | tar -C "$TREE/$copy" -xf -; left=$((left - $(files | tr -cd "\\0" | wc -c)))',
    'done',
    `for number in $(seq ${emptyFilesOf(mib) / EMPTY_OF_EACH}); do`,
    `  mkdir "$EMPTY/$number" && (cd "$EMPTY/$number" && seq ${EMPTY_OF_EACH} | xargs touch)`,
    'done',
    'sync -f "$TREE"; tar -cf - "$TREE" "$EMPTY" 2> /dev/null | cat > /dev/null',
  ];
}

/**
 * A script that empties $COPIES before each run. For root it is a new ext4 on a loop device: creating files where many
 * were removed lately takes ten times as long, as ext4 walks past each of their inodes.
 */
export function writeFreshDisk(directory: string, mib: number): void {
  mkdirSync(join(directory, 'copies'), { recursive: true });
  const script = process.getuid?.() === 0 ? newDisk(directory, mib) : ['rm -rf "$COPIES"', 'mkdir "$COPIES"'];
  writeFileSync(join(directory, 'fresh-disk'), `#!/bin/bash -e\n${script.join('\n')}\n`);
  chmodSync(join(directory, 'fresh-disk'), 0o755);
}

/** At the end. */
export function removeFreshDisk(directory: string): void {
  execaSync('umount', ['-q', join(directory, 'copies')], { reject: false });
}

/** Another image each time: a loop device may keep pages of the one before. */
function newDisk(directory: string, mib: number): string[] {
  const images = `'${join(directory, 'copies.image')}'`;
  return [
    'if mountpoint -q "$COPIES"; then umount "$COPIES"; fi',
    `rm -f ${images}.*`,
    `image=${images}.$$`,
    `truncate -s $((${mib} * 3 + 512))M "$image"`,
    'mkfs.ext4 -q -F -m 0 -i 2048 -E lazy_itable_init=1,nodiscard "$image"',
    'mount -o loop,noinit_itable "$image" "$COPIES"',
    'rmdir "$COPIES/lost+found"',
    'sync -f "$COPIES"',
  ];
}
