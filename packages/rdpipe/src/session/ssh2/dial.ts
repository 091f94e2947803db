/** Dials a host's ssh port: directly, or with a ProxyCommand. */
import { connect } from 'node:net';
import { Duplex } from 'node:stream';
import type { SessionError } from '../../model/errors.ts';
import { whenAborted } from '../abort.ts';
import { startChild } from '../child-channel.ts';
import { expandTokens } from '../config-values.ts';
import { DroppedConnectionError } from '../dropped-connection.ts';
import { droppedError, sessionError } from '../errors.ts';
import type { Target } from '../resolve.ts';

/** Opens a connection to the host's ssh port, directly or through a jump host. */
export type Dial = (target: Target, signal: AbortSignal) => Promise<Duplex>;

/**
 * Opens a socket without Nagle's delay: control messages are small and must not wait for each other.
 * @throws SessionError, DroppedConnectionError; the signal's reason.
 */
export async function dialDirectly(target: Target, signal: AbortSignal): Promise<Duplex> {
  const family = { inet: 4, inet6: 6 }[target.config.get('addressfamily')?.[0] ?? ''];
  const localAddress = target.config.get('bindaddress')?.[0];
  const socket = connect({
    host: target.hostname,
    port: target.port,
    noDelay: true,
    ...(family === undefined ? {} : { family }),
    ...(localAddress === undefined ? {} : { localAddress }),
  });
  const outcome = await new Promise<unknown>((resolve) => {
    socket.once('connect', () => resolve(undefined));
    socket.once('error', resolve);
    void whenAborted(signal).then(resolve);
  });
  if (outcome === undefined) return socket;
  socket.destroy();
  signal.throwIfAborted();
  throw (outcome as NodeJS.ErrnoException).code === 'ECONNRESET'
    ? new DroppedConnectionError(droppedError(target.destination))
    : dialError(target, outcome);
}

/** Starts the ProxyCommand of the configuration; its input and output are the connection. */
export async function dialByCommand(target: Target): Promise<Duplex> {
  const command = expandTokens(target.config.get('proxycommand')?.[0] ?? '', target);
  const { stdin, stdout, stderr, kill } = startChild(['sh', '-c', `exec ${command}`]);
  stderr.resume();
  const connection = Duplex.from({ readable: stdout, writable: stdin });
  // The login gets errors from the end of the stream; until then they have no listener.
  return connection.on('error', () => {}).once('close', kill);
}

function dialError({ destination, port }: Target, error: unknown): SessionError {
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') {
    return sessionError(destination, 'unknown_host', `unknown host ${destination.name}`);
  }
  const words: Readonly<Record<string, string>> = {
    ECONNREFUSED: 'connection refused',
    EHOSTUNREACH: 'no route to host',
    ENETUNREACH: 'network is unreachable',
    ETIMEDOUT: 'connection timed out',
  };
  return sessionError(destination, 'unreachable', `${words[code ?? ''] ?? message} on port ${port}`);
}
