import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { UsageError } from '../model/errors.ts';

/**
 * Sees that a file can be written later, and leaves nothing behind.
 * @throws UsageError
 */
export async function checkWritable(path: string): Promise<void> {
  try {
    if (await isThere(path)) await access(path, constants.W_OK);
    else await access(dirname(path), constants.W_OK | constants.X_OK);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new UsageError(`cannot write the report to ${path}: ${code ?? (error as Error).message}`);
  }
}

/** @throws when something else than a file is there. */
async function isThere(path: string): Promise<boolean> {
  const found = await stat(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
  if (found?.isDirectory() === true) throw Object.assign(new Error('it is a directory'), { code: 'EISDIR' });
  return found !== undefined;
}
