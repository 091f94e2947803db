/** Opens one ssh2 connection: socket, host key, login. */
import type { Duplex } from 'node:stream';
import ssh2, { type Algorithms, type AuthHandlerMiddleware, type Client } from 'ssh2';
import { unlessAborted, whenAborted } from '../abort.ts';
import type { ConcurrencyLimit } from '../concurrency-limit.ts';
import { isOn } from '../config-values.ts';
import { startDeadline } from '../deadline.ts';
import { connectWithRetries, DroppedConnectionError } from '../dropped-connection.ts';
import { connectTimeoutError, droppedError, loginTimeoutError, sessionError } from '../errors.ts';
import type { OpeningTimes } from '../host-session.ts';
import type { Asker, Prompter } from '../prompts/prompter.ts';
import type { Target } from '../resolve.ts';
import type { SessionSettings } from '../settings.ts';
import { offeredAlgorithms } from './algorithms.ts';
import type { Dial } from './dial.ts';
import { createHostKeyCheck, type HostKeyCheck } from './host-key.ts';
import { loginHandler } from './login.ts';
import { refuseUnsupported } from './policy.ts';

export interface Connected {
  readonly client: Client;
  readonly took: OpeningTimes;
}

export interface Ssh2Context {
  readonly settings: SessionSettings;
  readonly prompter: Prompter;
  readonly limit: ConcurrencyLimit;
}

/**
 * @throws SessionError if the host cannot be reached, its key is not the known one, it refuses the login, or its
 * configuration requires something that ssh2 lacks; the signal's reason.
 */
export async function connectClient(target: Target, dial: Dial, context: Ssh2Context): Promise<Connected> {
  await refuseUnsupported(target, context.settings);
  const connect = () => attempt(target, dial, context);
  return connectWithRetries(target.destination.label, connect, context.limit, context.settings);
}

async function attempt(target: Target, dial: Dial, { settings, prompter }: Ssh2Context): Promise<Connected> {
  const { destination } = target;
  const deadline = startDeadline(settings.connectTimeoutMs);
  const asker = inBatchMode(target, prompter.attach(destination.label, deadline));
  const signal = AbortSignal.any([deadline.expired, settings.signal]);
  const limitMs = settings.connectTimeoutMs;
  let connectMs: number | undefined;
  const exchanged = () => {
    connectMs ??= deadline.restart();
  };
  try {
    const terms = await connectionOptions(target, asker, signal);
    const socket = await unlessAborted(dial(target, signal), signal);
    const client = await login(target, terms, socket, asker, settings, signal, exchanged);
    return { client, took: { connectMs: connectMs ?? 0, loginMs: deadline.stop() } };
  } catch (error) {
    settings.signal.throwIfAborted();
    if (!deadline.expired.aborted) throw error;
    throw connectMs === undefined
      ? connectTimeoutError(destination, target.port, limitMs)
      : loginTimeoutError(destination, limitMs);
  } finally {
    deadline.stop();
    asker.release();
  }
}

/** With BatchMode no question is asked. */
function inBatchMode(target: Target, asker: Asker): Asker {
  return isOn(target, 'batchmode', false) ? { ...asker, interactive: false, ask: async () => undefined } : asker;
}

/** The configuration of a connection, read before the connection is opened. */
interface ConnectionOptions {
  readonly hostKey: HostKeyCheck;
  readonly algorithms: Algorithms;
  readonly authHandler: AuthHandlerMiddleware;
}

async function connectionOptions(target: Target, asker: Asker, signal: AbortSignal): Promise<ConnectionOptions> {
  const hostKey = await createHostKeyCheck(target);
  const algorithms = offeredAlgorithms(target, hostKey.algorithms);
  return { hostKey, algorithms, authHandler: loginHandler(target, asker, signal) };
}

async function login(
  target: Target,
  { hostKey, algorithms, authHandler }: ConnectionOptions,
  sock: Duplex,
  asker: Asker,
  settings: SessionSettings,
  signal: AbortSignal,
  exchanged: () => void,
): Promise<Client> {
  const client = new ssh2.Client();
  const outcome = new Promise<unknown>((resolve) => {
    client.once('ready', () => resolve(client));
    client.once('error', resolve);
    client.once('close', () => resolve(new Error('closed')));
    void whenAborted(signal).then(resolve);
  });
  client.on('error', () => {});
  client.once('handshake', exchanged);
  client.connect({
    sock,
    username: target.user,
    readyTimeout: 0,
    keepaliveInterval: settings.silenceMs / 4,
    keepaliveCountMax: 3,
    algorithms,
    hostVerifier: hostKey.verify,
    authHandler,
  });
  const result = await outcome;
  if (result === client) return client;
  client.destroy();
  throw hostKey.refusal() ?? loginError(target, result, asker);
}

function loginError(target: Target, error: unknown, asker: Asker): Error {
  const { destination, user } = target;
  const { level, message } = error as { level?: string; message?: string };
  if (level === 'client-authentication') {
    return sessionError(destination, 'authentication', `permission denied for ${user}`);
  }
  const isDropped = message === 'closed' || level === 'client-socket' || /before handshake/i.test(message ?? '');
  if (isDropped && !asker.asked()) return new DroppedConnectionError(droppedError(destination));
  return sessionError(destination, 'unreachable', withKeyword(message ?? 'the connection ended during login'));
}

/** If the lists of both sides have nothing in common, names the keyword of this side's list. */
function withKeyword(message: string): string {
  const [, what = ''] = /no matching (?:[CS]->[CS] )?(.*)$/.exec(message) ?? [];
  const keyword = {
    'key exchange algorithm': 'KexAlgorithms',
    'host key format': 'HostKeyAlgorithms',
    cipher: 'Ciphers',
    MAC: 'MACs',
  }[what];
  return keyword === undefined ? message : `${message} (in ${keyword}, of those that ssh2 supports)`;
}
