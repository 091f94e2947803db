/** The session of a host that serves copies: TLS with a key instead of ssh, to an agent. */
import { isIP } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import type { TLSSocket } from 'node:tls';
import { SessionError, UsageError } from '../model/errors.ts';
import type { HostRef } from '../model/pipeline.ts';
import { printable, shorten } from '../model/text.ts';
import type { HostSession } from './host-session.ts';
import { readServedKey } from './served-key.ts';
import type { SessionSettings } from './settings.ts';
import { socketChannel } from './socket-channel.ts';

/** The nonce of the agents that servers start. */
export const SERVED_NONCE = 'serve';

/** A host with its port. */
export type ServedHost = HostRef & { readonly served: NonNullable<HostRef['served']> };

/** True for a host that serves copies. */
export function isServed(host: HostRef): host is ServedHost {
  return host.served !== undefined;
}

/** One session per host. */
export interface ServedSessions {
  connect(host: ServedHost): Promise<HostSession>;
  /** Closes every session, including those that are being opened. */
  close(): Promise<void>;
}

/** Opens no session before the first `connect`. */
export function createServedSessions(settings: ServedSettings): ServedSessions {
  const sessions = new Map<string, Promise<HostSession>>();
  return {
    connect(host) {
      const session = sessions.get(host.label) ?? connectServed(host, settings);
      sessions.set(host.label, session);
      return session;
    },
    async close() {
      const settled = await Promise.allSettled(sessions.values());
      await Promise.all(settled.map((result) => (result.status === 'fulfilled' ? result.value.close() : undefined)));
    },
  };
}

type ServedSettings = Pick<SessionSettings, 'keyFile' | 'connectTimeoutMs' | 'signal'>;

/**
 * Connects, proves the key, and waits for the server's first line.
 * @throws SessionError with the reason and the next step; UsageError for a key file that cannot be used; the signal's
 * reason.
 */
export async function connectServed(host: ServedHost, settings: ServedSettings): Promise<HostSession> {
  if (settings.keyFile === undefined) {
    throw new UsageError(`${host.label} needs a key (use --keyfile FILE with the key that its server has)`);
  }
  const psk = await readServedKey(settings.keyFile);
  const began = performance.now();
  for (let attempt = 1; ; attempt++) {
    const opened = await open(host, psk, settings);
    if (!(opened instanceof Error)) return sessionOf(host, opened, performance.now() - began);
    if (attempt === ATTEMPTS || !isDropped(opened)) throw connectError(host, opened, settings.connectTimeoutMs);
    await delay(AGAIN_MS * attempt, undefined, { signal: settings.signal });
  }
}

/** A server with many unauthenticated connections drops the oldest ones during their handshake. */
const ATTEMPTS = 4;
const AGAIN_MS = 100;

class Dropped extends Error {}
class Refused extends Error {}
class Late extends Error {}
class Impostor extends Error {}

function isDropped(error: Error): boolean {
  return error instanceof Dropped || ('code' in error && error.code === 'ECONNRESET');
}

/** Returns a socket from which the first line can still be read, or the error. */
async function open(host: ServedHost, psk: Buffer, settings: ServedSettings): Promise<TLSSocket | Error> {
  const { signal, connectTimeoutMs } = settings;
  const { connect } = await import('node:tls'); // few runs need it
  signal.throwIfAborted();
  const socket = connect({
    host: host.name,
    port: host.served.port,
    ...(isIP(host.name) === 0 ? {} : { servername: '' }),
    minVersion: 'TLSv1.3',
    ciphers: 'TLS_CHACHA20_POLY1305_SHA256:TLS_AES_128_GCM_SHA256',
    ca: [], // refuses a server that presents a certificate instead of proving the key
    pskCallback: () => ({ psk, identity: `rdpipe-serve/1 ${host.user ?? 'default'}` }),
    checkServerIdentity: () => new Impostor(),
  });
  const late = AbortSignal.timeout(connectTimeoutMs);
  try {
    return await firstLine(socket, AbortSignal.any([signal, late]));
  } catch (error) {
    socket.destroy();
    signal.throwIfAborted();
    if (late.aborted) return new Late();
    return error instanceof Error ? error : new Error(String(error));
  }
}

const REFUSAL = 'rdrecv/1 refused: ';
const FIRST_LINE_MAX_BYTES = 1024 * 1024;

function firstLine(socket: TLSSocket, signal: AbortSignal): Promise<TLSSocket> {
  return new Promise((resolve, reject) => {
    let begun = Buffer.alloc(0);
    const onData = (data: Buffer) => {
      begun = Buffer.concat([begun, data]);
      if (!begun.includes('\n') && begun.length <= FIRST_LINE_MAX_BYTES) return;
      done();
      const line = begun.toString('utf8', 0, Math.max(0, begun.indexOf('\n')));
      if (line.startsWith(REFUSAL)) return reject(new Refused(line.slice(REFUSAL.length)));
      socket.pause();
      socket.unshift(begun);
      resolve(socket);
    };
    const onSecure = () => {
      if (!socket.isSessionReused()) onError(new Impostor()); // the key was not proved
    };
    const onClose = () => onError(new Dropped());
    const onAbort = () => onError(new Late());
    const onError = (error: Error) => {
      done();
      reject(error);
    };
    const done = () => {
      socket.off('data', onData).off('close', onClose).off('error', onError).off('secureConnect', onSecure);
      socket.on('error', () => {});
      signal.removeEventListener('abort', onAbort);
    };
    socket.on('data', onData).on('close', onClose).on('error', onError).on('secureConnect', onSecure);
    signal.addEventListener('abort', onAbort, { once: true });
    if (signal.aborted) onAbort();
  });
}

function sessionOf(host: ServedHost, socket: TLSSocket, tookMs: number): HostSession {
  let failed: Error | undefined;
  let closing = false;
  socket.on('error', (error) => {
    failed = error;
  });
  const channel = socketChannel(socket);
  return {
    kind: 'served',
    label: host.label,
    took: { connectMs: tookMs, loginMs: 0 },
    checkCommand: undefined,
    ended: channel.closed,
    openShell: () => Promise.reject(new Error(`${host.label} runs no shell`)),
    openAgent: async (signal) => {
      signal.throwIfAborted();
      return channel;
    },
    failure: () => (closing || failed === undefined ? undefined : lostError(host, failed)),
    async close() {
      closing = true;
      socket.destroy();
      await channel.closed;
    },
  };
}

function lostError({ label }: ServedHost, { message }: Error): SessionError {
  return new SessionError('session_lost', label, `lost the connection to ${label}: ${clean(message)}`);
}

function connectError(host: ServedHost, error: Error, limitMs: number): Error {
  const { label, name } = host;
  const code = 'code' in error ? String(error.code) : '';
  const failure = (kind: ConstructorParameters<typeof SessionError>[0], reason: string) =>
    new SessionError(kind, label, `cannot reach ${label}: ${reason}`, { cause: error });
  if (error instanceof Refused) return failure('unreachable', clean(error.message));
  if (error instanceof Late) {
    return failure(
      'unreachable',
      `no answer within ${limitMs / 1000} s (does a firewall drop port ${host.served.port}?)`,
    );
  }
  if (error instanceof Impostor || KEY_REFUSED.has(code)) return failure('authentication', keyReason(host));
  if (isDropped(error))
    return failure('unreachable', 'the server closed the connection before the handshake (try again)');
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return failure('unknown_host', `no such host: ${printable(name)}`);
  if (code === 'ECONNREFUSED') return failure('unreachable', 'connection refused (is rdrecv --serve running there?)');
  if (code.startsWith('ERR_SSL_') || code === 'EPROTO')
    return failure('unreachable', 'not an rdrecv --serve server (check the port)');
  return failure('unreachable', clean(error.message));
}

/** Alerts of a server that has a different key for the name, or uses a certificate. */
const KEY_REFUSED = new Set([
  'ERR_SSL_SSLV3_ALERT_ILLEGAL_PARAMETER',
  'ERR_SSL_TLSV1_ALERT_DECRYPT_ERROR',
  'ERR_SSL_TLSV1_ALERT_UNKNOWN_PSK_IDENTITY',
  'ERR_SSL_SSLV3_ALERT_HANDSHAKE_FAILURE',
]);

function keyReason({ user, name }: ServedHost): string {
  if (user !== undefined)
    return `the server has a different key for ${user} (compare --keyfile with the server's file)`;
  return `the server has a different key (compare --keyfile with the server's file; for a client with a name, use rd://NAME@${name}/…)`;
}

const REASON_MAX_CHARACTERS = 300;

function clean(text: string): string {
  return printable(shorten(text.trim(), REASON_MAX_CHARACTERS));
}
