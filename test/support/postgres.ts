// SPDX-License-Identifier: Apache-2.0
// Creates a PostgreSQL database, for tests with its clients.
import { chmod, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { needsFile, needsRoot, needsTool } from './needs.ts';
import { succeeded } from './shell.ts';
import type { Workplace } from './workplace.ts';

export const POSTGRES = '/usr/lib/postgresql/15/bin';
/** Runs a command as user postgres: the server refuses to run as root. */
export const AS_POSTGRES = 'setpriv --reuid postgres --regid postgres --clear-groups';

export function needsPostgres(test: Mocha.Context): void {
  needsFile(test, `${POSTGRES}/initdb`);
  needsRoot(test);
  needsTool(test, 'psql', 'pgbench');
}

/** Creates an empty database cluster in directory `name` of the test; returns its path. */
export async function makeDatabase(lab: Workplace, name: string): Promise<string> {
  const data = join(lab.directory, name);
  await mkdir(data);
  for (const directory of [join(lab.directory, '../..'), join(lab.directory, '..'), lab.directory])
    await chmod(directory, 0o755);
  const make = `${AS_POSTGRES} ${POSTGRES}/initdb -D ${data} -A trust --no-sync --wal-segsize=1 >/dev/null`;
  succeeded(await lab.sh(`chown postgres ${data} && cd / && ${make}`), '');
  return data;
}
