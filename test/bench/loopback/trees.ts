// SPDX-License-Identifier: Apache-2.0
// The trees for measuring copies, and the disk to which they are copied.
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { execaSync } from 'execa';
import { ROOT } from '../../support/root.ts';

/** Numbers of files at the default size of a run. */
const SMALL_FILES = 50_000;
const EMPTY_FILES = 1_000_000;
const DEFAULT_MIB = 1024;
const EMPTY_OF_EACH = 1000;
/** About the average size of the files below 64 KiB. */
const AVERAGE_BYTES = 4096;
const LONGEST_KIB = 64;

/** `bytes` is approximate, but the same for all copiers. */
export function smallFilesOf(mib: number): { readonly count: number; readonly bytes: number } {
  const count = Math.ceil((SMALL_FILES * mib) / DEFAULT_MIB);
  return { count, bytes: count * AVERAGE_BYTES };
}

/** The number of empty files, a multiple of EMPTY_OF_EACH. */
export function emptyFilesOf(mib: number): number {
  return Math.ceil((EMPTY_FILES * mib) / DEFAULT_MIB / EMPTY_OF_EACH) * EMPTY_OF_EACH;
}

/** Paths in `directory`, as variables for the command lines. */
export function placesOf(directory: string): NodeJS.ProcessEnv {
  return {
    TREE: join(directory, 'tree'),
    EMPTY: join(directory, 'empty'),
    COPIES: join(directory, 'copies'),
    FRESH: join(directory, 'fresh-disk'),
    SSH_KEY: join(directory, 'homes/key'),
  };
}

/** Bash commands that create a tree of repeated copies of node_modules, and one of empty files, and read both once. */
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
 * Writes a script that empties $COPIES before each run. As root it mounts a new ext4 on a loop device: after many files
 * were removed, creating files takes ten times as long, because ext4 examines each removed inode.
 */
export function writeFreshDisk(directory: string, mib: number): void {
  mkdirSync(join(directory, 'copies'), { recursive: true });
  const script = process.getuid?.() === 0 ? newDisk(directory, mib) : ['rm -rf "$COPIES"', 'mkdir "$COPIES"'];
  writeFileSync(join(directory, 'fresh-disk'), `#!/bin/bash -e\n${script.join('\n')}\n`);
  chmodSync(join(directory, 'fresh-disk'), 0o755);
}

/** Unmounts the disk at the end. */
export function removeFreshDisk(directory: string): void {
  execaSync('umount', ['-q', join(directory, 'copies')], { reject: false });
}

/** Uses a new image each time: a loop device may keep pages of the previous one. */
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
