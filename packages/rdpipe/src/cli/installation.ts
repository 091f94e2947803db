/** Finds the programs of this installation that sessions start on this machine. */
import { join } from 'node:path';
import { installationRoot, locateLocalAgents } from '../agent/locate.ts';
import { SessionError } from '../model/errors.ts';
import type { Installation } from '../run/open-hosts.ts';

/**
 * The programs of this installation that sessions start on this machine.
 * @throws SessionError if it has none for this CPU.
 */
export function findInstallation(): Installation {
  const agent = locateLocalAgents().at(-1);
  if (agent === undefined) {
    const message = 'this copy of rdpipe has no programs for this machine (in a checkout, run: npm run build)';
    throw new SessionError('no_agent', 'this machine', message);
  }
  return {
    dieWithParent: [agent, '--die-with-parent'],
    dieAfterParent: (graceMs) => [agent, '--die-after-parent', `${process.pid},${graceMs}`],
    askpass: join(installationRoot(), 'bin/rdpipe-askpass'),
  };
}
