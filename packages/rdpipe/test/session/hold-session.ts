/**
 * Opens a session, prints the PID of a process on the host, and waits to be killed.
 * The process reads its input. With a control path, uses that connection, and prints a port of the host that leads to a
 * socket here.
 */
import { openSessions } from '../../src/session/open.ts';
import { startScript } from './conformance.ts';
import { hostRef, settingsFor } from './ssh-hosts.ts';

const [configFile = '', name = '', agent = '', controlPath] = process.argv.slice(2);
const hosts = { configFile, hosts: new Map(), close: async () => {} };
const sessions = await openSessions(
  [hostRef(name)],
  settingsFor(hosts, {
    dieWithParent: [agent, '--die-with-parent'],
    options: controlPath === undefined ? [] : [`ControlPath=${controlPath}`],
  }),
  undefined,
);
const session = sessions.all.get('1');
const signal = new AbortController().signal;
if (session && controlPath !== undefined) {
  const back = await session.forwardBack?.(`${controlPath}.back`, signal);
  process.stdout.write(`${back?.port}\n`);
} else if (session) {
  process.stdout.write(`${await startScript(await session.openShell(signal), 'exec cat')}\n`);
}
