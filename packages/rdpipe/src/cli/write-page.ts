/** Writes a page of HTML to a file, whole or not at all. */
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

type Pages = typeof import('../ui/pages/index.ts');

/**
 * Writes a page, whole or not at all; in the place of a file that is there, or to what is there and no file. A new file
 * is for its owner alone: the command line stands in it.
 * @returns why it could not, in one line.
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
    return `cannot write the report to ${file}: ${reason(error)}`;
  }
}

/** A device or a named pipe; a file in its place would be of no use. */
function writeInPlace({ path }: PathEnd, text: string): void {
  const descriptor = openSync(path, constants.O_WRONLY | constants.O_NOCTTY);
  try {
    writeFileSync(descriptor, text);
  } finally {
    closeSync(descriptor);
  }
}

/** At once: no signal of the user's comes between and leaves half of it behind. */
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

/** Where the owner cannot be kept, the new one's group gets no right that the old one's had. */
function keepOwnerAndMode(descriptor: number, old: Stats): void {
  try {
    fchownSync(descriptor, old.uid, old.gid);
  } catch {
    return;
  }
  fchmodSync(descriptor, old.mode & 0o777);
}

/** Without the path in node's message, which leads through /proc. */
function reason(error: unknown): string {
  return error instanceof Error ? error.message.replace(/, \w+(?: '.*)?$/, '') : String(error);
}
