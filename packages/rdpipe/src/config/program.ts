import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { UsageError } from '../model/errors.ts';

/**
 * The absolute path of a program that the user named.
 * @throws UsageError when it cannot be run.
 */
export async function findProgram(what: string, path: string): Promise<string> {
  try {
    await access(path, constants.X_OK);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new UsageError(`the ${what} ${path} ${code === 'EACCES' ? 'is not executable' : `cannot be run: ${code}`}`);
  }
  if (!(await stat(path)).isFile()) throw new UsageError(`the ${what} ${path} is no program`);
  return resolve(path);
}
