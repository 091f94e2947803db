/** A session over the system's ssh: its channels are clients of one master. */
import { settlesWithin } from '../abort.ts';
import { checkCommand } from '../destination.ts';
import { lostError, refusedError } from '../errors.ts';
import type { Channel, Forward, HostSession, RemoteForward } from '../host-session.ts';
import type { Target } from '../resolve.ts';
import { connectMaster } from './connect-master.ts';
import { holdForward } from './held-forward.ts';
import type { Master, MasterContext } from './master.ts';
import type { SshProgram } from './program.ts';
import { RefusedError } from './proxy-channel.ts';
import { openShellChannel } from './shell-channel.ts';

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
  /** Why the server refused a channel, if that was known only after it was opened. */
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
      const opened = await openShellChannel(ssh, target, master, signal).catch(async (error: unknown) => {
        if (!(error instanceof RefusedError)) throw error;
        await settlesWithin(master.ended, MASTER_END_MS);
        throw master.lost() ? lostError(label, master.log()) : refusedError(label, error.message);
      });
      const closed = opened.closed.then(async (status) => {
        channels.delete(channel);
        if (opened.isCut()) await settlesWithin(master.ended, MASTER_END_MS);
        refusals.set(channel, opened.refusal());
        return status;
      });
      const channel: Channel = { ...opened, closed };
      channels.add(channel);
      return channel;
    },
    forward: (host, port, signal) => forward(ssh, master, host, port, signal),
    forwardBack: (socketPath, signal) => forwardBack(ssh, master, socketPath, signal),
    failure(of) {
      const refused = (of && refusals.get(of)) ?? '';
      if (master.lost()) return lostError(label, `${refused}${master.log()}`);
      return refused === '' ? undefined : refusedError(label, refused);
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
