/** Sessions by the system's ssh: channels are clients of one master connection. */
import { readFileSync } from 'node:fs';
import { startChild } from './child-channel.ts';
import { lostError } from './errors.ts';
import type { Channel, Forward, HostSession } from './host-session.ts';
import { connectMaster, type Master, type MasterContext } from './master.ts';
import type { Route } from './resolve.ts';
import { controlArguments, shellArguments } from './ssh-arguments.ts';
import { runSsh } from './ssh-program.ts';

export interface OpensshSession extends HostSession {
  readonly master: Master;
}

/** @throws SessionError when the host cannot be reached or refuses us. */
export async function connectOpenssh(
  route: Route,
  via: OpensshSession | undefined,
  context: MasterContext,
): Promise<OpensshSession> {
  const master = await connectMaster(route, via?.master, context);
  return createSession(route, master);
}

function createSession(route: Route, master: Master): OpensshSession {
  const { label } = route.destination;
  const logs: string[] = [];
  const channels = new Set<Channel>();

  return {
    kind: 'openssh',
    label,
    master,
    async openShell(signal) {
      signal.throwIfAborted();
      const logPath = master.newPath('log');
      logs.push(logPath);
      const channel = startChild(['ssh', ...shellArguments(route, master.controlPath, logPath)]);
      channels.add(channel);
      void channel.closed.then(() => channels.delete(channel));
      return channel;
    },
    forward: (host, port, signal) => forward(master, host, port, signal),
    failure() {
      const said = `${logs.map(readLog).join('')}${master.log()}`;
      return master.lost() || said !== '' ? lostError(label, said) : undefined;
    },
    async close() {
      for (const channel of channels) channel.kill();
      await Promise.all([...channels].map((channel) => channel.closed));
      await master.close();
    },
  };
}

async function forward(master: Master, host: string, port: number, signal: AbortSignal): Promise<Forward | undefined> {
  const socketPath = master.newPath('f');
  const way = ['-L', `${socketPath}:${host.includes(':') ? `[${host}]` : host}:${port}`];
  const opened = await runSsh(controlArguments(master.controlPath, 'forward', way), signal);
  if (opened.code !== 0) return undefined;
  return {
    socketPath,
    async close() {
      await runSsh(controlArguments(master.controlPath, 'cancel', way), new AbortController().signal);
    },
  };
}

function readLog(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
