/** Finds programs of this machine, as execvp does. */
import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, join } from 'node:path';

/** Returns the path of a program: the first one in PATH, or the name itself if it has a `/`. */
export function findProgram(name: string, searchPath = process.env.PATH ?? ''): string | undefined {
  if (name.includes('/')) return isProgram(name) ? name : undefined;
  const directories = searchPath.split(delimiter).filter((directory) => directory !== '');
  return directories.map((directory) => join(directory, name)).find(isProgram);
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}
