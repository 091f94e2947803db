/** Writes an HTML page to a file, completely or not at all. */
import { randomBytes } from 'node:crypto';
import {
  closeSync,
  constants,
  fchmodSync,
  fchownSync,
  fsyncSync,
  openSync,
  renameSync,
  rmSync,
  type Stats,
  writeFileSync,
} from 'node:fs';
import { type PathEnd, walkPath } from '../config/path-walk.ts';
import { reasonOf } from '../model/errors.ts';

type Pages = typeof import('../ui/pages/index.ts');

/**
 * Writes a page, completely or not at all. Replaces an existing regular file, and writes to an existing device or pipe.
 * Only the owner can read a new file, because it contains the command line.
 * @returns the reason for a failure, in one line; undefined on success.
 */
export async function writePage(file: string, draw: (pages: Pages) => string): Promise<string | undefined> {
  try {
    const text = draw(await import('../ui/pages/index.ts'));
    walkPath(file, (end) => {
      if (end.found?.isFile() ?? true) replace(end, text);
      else writeInPlace(end, text);
    });
    return undefined;
  } catch (error) {
    return `cannot write the report to ${file}: ${error instanceof Error ? reasonOf(error) : error}`;
  }
}

/** Writes to a device or a named pipe, which must not be replaced by a file. */
function writeInPlace({ path }: PathEnd, text: string): void {
  const descriptor = openSync(path, constants.O_WRONLY | constants.O_NOCTTY);
  try {
    writeFileSync(descriptor, text);
  } finally {
    closeSync(descriptor);
  }
}

/** Synchronous, so that a signal cannot interrupt it and leave an incomplete file. */
function replace({ path, found }: PathEnd, text: string): void {
  const temporary = `${path}.${randomBytes(4).toString('hex')}.tmp`;
  const descriptor = openSync(temporary, 'wx', 0o600);
  try {
    try {
      writeFileSync(descriptor, text);
      if (found !== undefined) keepOwnerAndMode(descriptor, found);
      fsyncSync(descriptor);
    } finally {
      closeSync(descriptor);
    }
    renameSync(temporary, path);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
}

/** If the owner cannot be kept, the mode is not kept either: its rights were meant for another owner and group. */
function keepOwnerAndMode(descriptor: number, old: Stats): void {
  try {
    fchownSync(descriptor, old.uid, old.gid);
  } catch {
    return;
  }
  fchmodSync(descriptor, old.mode & 0o777);
}
