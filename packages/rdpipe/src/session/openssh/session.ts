/** A session over the system's ssh: its channels are clients of one master. */
import { settlesWithin } from '../abort.ts';
import { startChild } from '../child-channel.ts';
import { checkCommand } from '../destination.ts';
import { lostError } from '../errors.ts';
import type { Channel, Forward, HostSession, RemoteForward } from '../host-session.ts';
import type { Target } from '../resolve.ts';
import { shellArguments } from './arguments.ts';
import { connectMaster } from './connect-master.ts';
import { holdForward } from './held-forward.ts';
import { readLog } from './log.ts';
import type { Master, MasterContext } from './master.ts';
import type { SshProgram } from './program.ts';

/** When a connection breaks, its channels end shortly before the master. */
const MASTER_END_MS = 300;

export interface OpensshSession extends HostSession {
  readonly master: Master;
}

/** @throws SessionError if the host cannot be reached or refuses the login; the signal's reason. */
export async function connectOpenssh(
  target: Target,
  via: OpensshSession | undefined,
  context: MasterContext,
): Promise<OpensshSession> {
  const master = await connectMaster(target, via?.master, context);
  return createSession(target, master, context.ssh);
}

function createSession(target: Target, master: Master, ssh: SshProgram): OpensshSession {
  const { label } = target.destination;
  const channels = new Set<Channel>();
  /** The logs of ssh for channels that it could not open. */
  const refusals = new WeakMap<Channel, string>();

  return {
    kind: 'openssh',
    label,
    master,
    took: master.took,
    checkCommand: checkCommand(target.destination),
    ended: master.ended,
    async openShell(signal) {
      signal.throwIfAborted();
      const logPath = master.newPath('log');
      const child = startChild([ssh.path, ...shellArguments(target, master.controlPath, logPath)], ssh.env);
      const closed = child.closed.then(async (status) => {
        channels.delete(channel);
        // 255: ssh itself failed, or the command exited with 255. Only the master knows whether the connection is gone.
        if (status.code !== 255) return status;
        await settlesWithin(master.ended, MASTER_END_MS);
        refusals.set(channel, readLog(logPath));
        return status;
      });
      const channel: Channel = { ...child, closed };
      channels.add(channel);
      return channel;
    },
    forward: (host, port, signal) => forward(ssh, master, host, port, signal),
    forwardBack: (socketPath, signal) => forwardBack(ssh, master, socketPath, signal),
    failure(of) {
      const refused = (of && refusals.get(of)) ?? '';
      if (master.lost()) return lostError(label, `${refused}${master.log()}`);
      return refused === '' ? undefined : lostError(label, refused);
    },
    async close() {
      for (const channel of channels) channel.kill();
      await Promise.all([...channels].map((channel) => channel.closed));
      await master.close();
    },
  };
}

async function forward(
  ssh: SshProgram,
  master: Master,
  host: string,
  port: number,
  signal: AbortSignal,
): Promise<Forward | undefined> {
  const socketPath = master.newPath('f');
  const forwarding = ['-L', `${socketPath}:${host.includes(':') ? `[${host}]` : host}:${port}`];
  const held = await holdForward(ssh, master, forwarding, signal);
  return held && { socketPath, close: held.close };
}

/** The server on the host chooses the port, or permits none (AllowTcpForwarding). */
async function forwardBack(
  ssh: SshProgram,
  master: Master,
  socketPath: string,
  signal: AbortSignal,
): Promise<RemoteForward | undefined> {
  const held = await holdForward(ssh, master, ['-R', `127.0.0.1:0:${socketPath}`], signal);
  return held && held.port > 0 ? held : undefined;
}
