import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Installation } from '../run/open-hosts.ts';

/** The programs of this copy that sessions start on this machine. */
export function findInstallation(): Installation {
  const root = installationRoot();
  return { leash: [join(root, 'bin/rdstage'), '--leash'], askpass: join(root, 'bin/rdpipe-askpass') };
}

/**
 * The directory that holds `bin/` and `build/`: the nearest one above this file, which is either a source or the bundle.
 */
export function installationRoot(): string {
  let directory = dirname(fileURLToPath(import.meta.url));
  while (!existsSync(join(directory, 'bin/rdpipe'))) {
    const parent = dirname(directory);
    if (parent === directory) throw new Error('bin/rdpipe is missing: this copy of rdpipe is not whole');
    directory = parent;
  }
  return directory;
}
