import { constants } from 'node:fs';
import { access, realpath, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { UsageError } from '../model/errors.ts';

/**
 * Sees that a file can be written later, and leaves nothing behind.
 * @throws UsageError
 */
export async function checkWritable(path: string): Promise<void> {
  try {
    const found = await whatIsThere(path);
    if (found !== 'nothing') await access(path, constants.W_OK);
    // A file is replaced by a whole one.
    const place = found === 'file' ? await realpath(path) : path;
    if (found !== 'device') await access(dirname(place), constants.W_OK | constants.X_OK);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new UsageError(`cannot write the report to ${path}: ${code ?? (error as Error).message}`);
  }
}

/** @throws when a directory is there. */
async function whatIsThere(path: string): Promise<'nothing' | 'file' | 'device'> {
  const found = await stat(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
  if (found?.isDirectory() === true) throw Object.assign(new Error('it is a directory'), { code: 'EISDIR' });
  if (found === undefined) return 'nothing';
  return found.isFile() ? 'file' : 'device';
}
