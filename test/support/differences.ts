// SPDX-License-Identifier: Apache-2.0
// The files that differ between two directories, byte by byte.
import { lstatSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';

/** Describes each file that differs, and its first difference, on one line. */
export function differences(one: string, other: string, ignored = /^$/): string[] {
  const names = new Set(
    [one, other].flatMap((directory) => readdirSync(directory, { recursive: true, encoding: 'utf8' })),
  );
  return [...names]
    .filter((name) => !ignored.test(name))
    .sort()
    .flatMap((name) => {
      const [a, b] = [one, other].map((directory) => contents(join(directory, name)));
      if (a === undefined || b === undefined) return [`${name}: only in ${a === undefined ? other : one}`];
      return a.equals(b) ? [] : [`${name}: differs at byte ${firstDifference(a, b)} of ${a.length} and ${b.length}`];
    });
}

/** The content of a file, the target of a symbolic link, nothing for a directory; undefined if there is no file. */
function contents(path: string): Buffer | undefined {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  if (stat === undefined) return undefined;
  if (stat.isSymbolicLink()) return Buffer.from(readlinkSync(path));
  return stat.isFile() ? readFileSync(path) : Buffer.alloc(0);
}

function firstDifference(a: Buffer, b: Buffer): number {
  const index = a.findIndex((byte, place) => byte !== b[place]);
  return index < 0 ? a.length : index;
}
