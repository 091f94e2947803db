/** Makes one ssh2 connection: socket, host key, login. */
import { readFile } from 'node:fs/promises';
import { connect as connectSocket } from 'node:net';
import type { Duplex } from 'node:stream';
import ssh2, { type Client, type ServerHostKeyAlgorithm } from 'ssh2';
import { SessionError } from '../model/errors.ts';
import { whenAborted } from './abort.ts';
import { startDeadline } from './deadline.ts';
import { connectTimeoutError, sessionError } from './errors.ts';
import { checkHostKey, fingerprint, hostKeyName, knownHostsLine, knownKeyTypes, type Verdict } from './known-hosts.ts';
import type { Limit } from './limit.ts';
import type { Asker, Prompter } from './prompts.ts';
import type { Route } from './resolve.ts';
import { retry } from './retry.ts';
import type { SessionSettings } from './settings.ts';
import { configuredPaths } from './ssh2-config.ts';
import { loginHandler } from './ssh2-login.ts';

export interface Ssh2Context {
  readonly settings: SessionSettings;
  readonly prompter: Prompter;
  readonly limit: Limit;
}

/** Opens a connection to the host's ssh port, directly or through a jump host. */
export type Dial = (route: Route, signal: AbortSignal) => Promise<Duplex>;

/** The connection was dropped before the login began: another try may do. */
class DroppedError extends Error {}

/** @throws SessionError when the host cannot be reached, is not the one we know, or refuses us. */
export async function connectClient(route: Route, dial: Dial, context: Ssh2Context): Promise<Client> {
  const { signal } = context.settings;
  const connectOnce = () => attempt(route, dial, context);
  const isDropped = (error: unknown) => error instanceof DroppedError;
  return context.limit(signal, () =>
    retry(connectOnce, isDropped, signal).catch((error: unknown) => {
      throw isDropped(error) ? sessionError(route.destination, 'unreachable', DROPPED_WORDS) : error;
    }),
  );
}

const DROPPED_WORDS = 'it closed the connection before the login, as servers do with too many at once';

/** A socket of our own, without Nagle's delay: control messages are small and must not wait for each other. */
export async function dialDirectly(route: Route, signal: AbortSignal): Promise<Duplex> {
  const family = { inet: 4, inet6: 6 }[route.config.get('addressfamily')?.[0] ?? ''];
  const socket = connectSocket({
    host: route.hostname,
    port: route.port,
    noDelay: true,
    ...(family === undefined ? {} : { family }),
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
    ? new DroppedError('reset')
    : dialError(route, outcome);
}

async function attempt(route: Route, dial: Dial, { settings, prompter }: Ssh2Context): Promise<Client> {
  const { destination } = route;
  const deadline = startDeadline(settings.connectTimeoutMs);
  const asker = prompter.attach(destination.label, deadline);
  const signal = AbortSignal.any([deadline.expired, settings.signal]);
  try {
    const socket = await dial(route, signal);
    return await login(route, socket, asker, settings, signal);
  } catch (error) {
    settings.signal.throwIfAborted();
    throw deadline.expired.aborted ? connectTimeoutError(destination, settings.connectTimeoutMs) : error;
  } finally {
    deadline.stop();
    asker.release();
  }
}

async function login(
  route: Route,
  sock: Duplex,
  asker: Asker,
  settings: SessionSettings,
  signal: AbortSignal,
): Promise<Client> {
  const knownHosts = await readKnownHosts(route);
  const name = route.config.get('hostkeyalias')?.[0] ?? hostKeyName(route.hostname, route.port);
  let refused: SessionError | undefined;
  const client = new ssh2.Client();
  const outcome = new Promise<unknown>((resolve) => {
    client.once('ready', () => resolve(client));
    client.once('error', resolve);
    client.once('close', () => resolve(new DroppedError('closed')));
    void whenAborted(signal).then(resolve);
  });
  client.on('error', () => {});
  client.connect({
    sock,
    username: route.user,
    readyTimeout: 0,
    keepaliveInterval: settings.silenceMs / 4,
    keepaliveCountMax: 3,
    algorithms: { serverHostKey: { append: [], prepend: preferredAlgorithms(knownHosts, name), remove: [] } },
    hostVerifier: (key: Buffer) => {
      const verdict = checkHostKey(knownHosts, name, key);
      if (verdict !== 'known') refused = hostKeyError(route, verdict, name, key);
      return verdict === 'known';
    },
    authHandler: loginHandler(route, asker, signal),
  });
  const result = await outcome;
  if (result === client) return client;
  client.destroy();
  throw refused ?? loginError(route, result, asker);
}

async function readKnownHosts(route: Route): Promise<string> {
  const paths = ['userknownhostsfile', 'globalknownhostsfile'].flatMap((keyword) => configuredPaths(route, keyword));
  const texts = paths.map((path) => readFile(path, 'utf8').catch(() => ''));
  return (await Promise.all(texts)).join('\n');
}

/** A server has several keys: it should show one that can be checked. An RSA key is used with newer digests than its name says. */
function preferredAlgorithms(knownHosts: string, name: string): ServerHostKeyAlgorithm[] {
  const algorithms = knownKeyTypes(knownHosts, name).flatMap((type) =>
    type === 'ssh-rsa' ? ['rsa-sha2-512', 'rsa-sha2-256'] : [type],
  );
  return algorithms.filter((algorithm): algorithm is ServerHostKeyAlgorithm => SUPPORTED.has(algorithm));
}

const SUPPORTED: ReadonlySet<string> = new Set([
  'ssh-ed25519',
  'ecdsa-sha2-nistp256',
  'ecdsa-sha2-nistp384',
  'ecdsa-sha2-nistp521',
  'rsa-sha2-512',
  'rsa-sha2-256',
]);

function hostKeyError(route: Route, verdict: Exclude<Verdict, 'known'>, name: string, key: Buffer): SessionError {
  const words = {
    unknown: `its host key ${fingerprint(key)} is not known: if it is the right one, add to ~/.ssh/known_hosts: ${knownHostsLine(name, key)}`,
    changed: 'its host key is not the one in known_hosts: somebody may be listening in, or the host was set up anew',
    revoked: `its host key ${fingerprint(key)} is revoked in known_hosts`,
  }[verdict];
  const { label } = route.destination;
  return new SessionError('host_key', label, `cannot reach ${label}: ${words}`);
}

function loginError(route: Route, error: unknown, asker: Asker): Error {
  const { destination, user } = route;
  const { level, message } = error as { level?: string; message?: string };
  if (level === 'client-authentication') {
    return sessionError(destination, 'authentication', `permission denied for ${user}`);
  }
  const isDropped =
    error instanceof DroppedError || level === 'client-socket' || /before handshake/i.test(message ?? '');
  if (isDropped && !asker.asked()) return new DroppedError('dropped');
  return sessionError(destination, 'unreachable', message ?? 'the connection ended during the login');
}

function dialError({ destination, port }: Route, error: unknown): SessionError {
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
