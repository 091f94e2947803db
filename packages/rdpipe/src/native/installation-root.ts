import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The directory that holds `bin/` and `build/`: the nearest one above this file, which is either a source or the bundle. */
export function installationRoot(): string {
  let directory = dirname(fileURLToPath(import.meta.url));
  while (!existsSync(join(directory, 'bin/rdpipe'))) {
    const parent = dirname(directory);
    if (parent === directory) throw new Error('bin/rdpipe is missing: this copy of rdpipe is not whole');
    directory = parent;
  }
  return directory;
}
