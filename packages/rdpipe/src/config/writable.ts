import { accessSync, constants } from 'node:fs';
import { UsageError } from '../model/errors.ts';
import { walkPath } from './path-walk.ts';

/**
 * Sees that a file can be written later, and leaves nothing behind.
 * @throws UsageError
 */
export function checkWritable(path: string): void {
  try {
    walkPath(path, ({ path: way, directory, found }) => {
      if (found?.isDirectory() === true) throw Object.assign(new Error('it is a directory'), { code: 'EISDIR' });
      if (found !== undefined) accessSync(way, constants.W_OK);
      // A file is replaced by a whole one.
      if (found?.isFile() ?? true) accessSync(directory, constants.W_OK | constants.X_OK);
    });
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    throw new UsageError(`cannot write the report to ${path}: ${code ?? message}`);
  }
}
