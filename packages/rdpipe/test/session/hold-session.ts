/** Opens a session, prints the pid of a process there that watches its input, and waits to be killed. */
import { openSessions } from '../../src/session/open.ts';
import { startScript } from './conformance.ts';
import { hostRef, settingsFor } from './ssh-hosts.ts';

const [configFile = '', name = '', agent = ''] = process.argv.slice(2);
const hosts = { configFile, hosts: new Map(), close: async () => {} };
const sessions = await openSessions(
  [hostRef(name)],
  settingsFor(hosts, { dieWithParent: [agent, '--die-with-parent'] }),
  undefined,
);
const channel = await sessions.all.get('1')?.openShell(new AbortController().signal);
if (channel) process.stdout.write(`${await startScript(channel, 'exec cat')}\n`);
