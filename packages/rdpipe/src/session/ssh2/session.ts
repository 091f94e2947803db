/** A session over the ssh2 library, without the system's ssh. */
import { type Duplex, PassThrough, type Readable } from 'node:stream';
import type { Client, ClientChannel } from 'ssh2';
import type { SessionError } from '../../model/errors.ts';
import { settlesWithin } from '../abort.ts';
import { sentEnvironment } from '../config-values.ts';
import { checkCommand } from '../destination.ts';
import { lostError, sessionError } from '../errors.ts';
import type { Channel, HostSession } from '../host-session.ts';
import type { Target } from '../resolve.ts';
import { type Connected, connectClient, type Ssh2Context } from './connect.ts';
import { type Dial, dialByCommand, dialDirectly } from './dial.ts';

export interface Ssh2Session extends HostSession {
  /** Opens a connection to a host that is reached through this one. */
  dial(target: Target): Promise<Duplex>;
}

const LONGEST_END_MS = 2000;
const KILLED = Symbol('killed');

/**
 * @throws SessionError if the host cannot be reached, its key is not the known one, or it refuses the login; the
 * signal's reason.
 */
export async function connectSsh2(
  target: Target,
  via: Ssh2Session | undefined,
  context: Ssh2Context,
): Promise<Ssh2Session> {
  return createSession(target, await connectClient(target, dialOf(target, via), context));
}

function dialOf(target: Target, via: Ssh2Session | undefined): Dial {
  if (via) return (target) => via.dial(target);
  return (target.config.get('proxycommand')?.[0] ?? 'none') === 'none' ? dialDirectly : dialByCommand;
}

function createSession(target: Target, { client, took }: Connected): Ssh2Session {
  const { label } = target.destination;
  let closing = false;
  let lost: SessionError | undefined;
  client.on('error', (error) => {
    lost ??= lostError(label, error.message);
  });
  const ended = new Promise<void>((resolve) => {
    client.once('close', () => {
      if (!closing) lost ??= lostError(label, '');
      resolve();
    });
  });

  return {
    kind: 'ssh2',
    label,
    took,
    checkCommand: checkCommand(target.destination),
    ended,
    async openShell(signal) {
      signal.throwIfAborted();
      return channelOf(await execShell(target, client, lost));
    },
    dial: (target) => forwardOut(client, target),
    // No forwards: payload would pass through this process. Hops have to connect by another path.
    failure: () => lost,
    async close() {
      closing = true;
      client.end();
      await settlesWithin(ended, LONGEST_END_MS);
      client.destroy();
    },
  };
}

function execShell(target: Target, client: Client, lost: Error | undefined): Promise<ClientChannel> {
  return new Promise((resolve, reject) => {
    const refuse = (error: Error) => reject(lost ?? lostError(target.destination.label, error.message));
    try {
      client.exec('sh', { env: sentEnvironment(target) }, (error, channel) => {
        if (error) refuse(error);
        else resolve(channel);
      });
    } catch (error) {
      refuse(error as Error);
    }
  });
}

function channelOf(stream: ClientChannel): Channel {
  let status: Awaited<Channel['closed']> = { code: null, signal: null };
  stream.on('error', () => {}).stderr.on('error', () => {});
  stream.on('exit', (code: number | null, signal?: string) => {
    status = { code, signal: signal === undefined ? null : `SIG${signal}` };
  });
  const stdout = readSide(stream);
  return {
    stdin: stream,
    stdout,
    stderr: stream.stderr,
    closed: new Promise((resolve) => {
      // The far end may never close the channel while it still sends.
      for (const event of ['close', KILLED]) stream.once(event, () => resolve(status));
    }),
    kill() {
      // The stream would otherwise continue until the far end closes it.
      stream.destroy();
      stdout.destroy();
      stream.emit(KILLED);
    },
  };
}

/** Separate from the write side, so that a reader that stops closes nothing; data that still arrives is discarded. */
function readSide(stream: ClientChannel): Readable {
  const side = new PassThrough();
  stream.pipe(side);
  side.on('error', () => {}).once('close', () => void stream.resume());
  return side;
}

function forwardOut(client: Client, target: Target): Promise<Duplex> {
  return new Promise((resolve, reject) => {
    client.forwardOut('127.0.0.1', 0, target.hostname, target.port, (error, channel) => {
      if (error) reject(sessionError(target.destination, 'unreachable', `its jump host reports: ${error.message}`));
      else resolve(channel);
    });
  });
}
