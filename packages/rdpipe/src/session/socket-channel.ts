/** A channel to an agent that already runs at the far end of a socket. */
import type { Socket } from 'node:net';
import { Readable } from 'node:stream';
import type { Channel } from './host-session.ts';

/** Returns a channel without a standard error. The caller handles the errors of the socket. */
export function socketChannel(socket: Socket): Channel {
  const ended = new Promise<void>((resolve) => {
    socket.once('close', () => resolve());
  });
  return {
    stdin: socket,
    stdout: socket,
    stderr: Readable.from([]),
    closed: ended.then(() => ({ code: null, signal: null })),
    kill: () => socket.destroy(),
  };
}
