/** Connects a master, or uses an open one: the user's own, or one from an earlier run. */
import { existsSync } from 'node:fs';
import { SessionError } from '../../model/errors.ts';
import { settlesWithin, whenAborted } from '../abort.ts';
import { type ChildChannel, startChild } from '../child-channel.ts';
import { type Deadline, startDeadline } from '../deadline.ts';
import { connectWithRetries, DroppedConnectionError } from '../dropped-connection.ts';
import { connectError, connectTimeoutError, isDroppedBeforeLogin, loginTimeoutError } from '../errors.ts';
import type { OpeningTimes } from '../host-session.ts';
import type { PrivateDir } from '../private-dir.ts';
import type { Asker } from '../prompts/prompter.ts';
import type { Target } from '../resolve.ts';
import type { SessionSettings } from '../settings.ts';
import { keepTail } from '../text-tail.ts';
import { connectOptions, jumpOption, masterArguments } from './arguments.ts';
import { hasExchangedKeys, isSocketTaken, plainLog, readLog } from './log.ts';
import type { Master, MasterContext } from './master.ts';
import { earlierMaster, persistentMaster, persistentPathOf, usersMaster } from './persistent-master.ts';

const LONGEST_END_MS = 2000;

/**
 * Returns the user's own connection if it is open, otherwise one that an earlier run kept, otherwise a new one, through
 * the connection to the jump host.
 * @throws SessionError; the signal's reason.
 */
export async function connectMaster(target: Target, via: Master | undefined, context: MasterContext): Promise<Master> {
  const { label } = target.destination;
  const users = await usersMaster(target, context);
  if (users) return users;
  const persistentPath = persistentPathOf(target, via, context);
  const earlier = persistentPath === undefined ? undefined : await earlierMaster(target, persistentPath, context);
  if (earlier) return earlier;
  if (context.settings.onlyOpen === true)
    throw new SessionError('unreachable', label, `no connection to ${label} is open`);
  const connect = () => startMaster(target, via, persistentPath, context);
  return connectWithRetries(label, connect, context.limit, context.settings);
}

/** An ssh that is to become a master. */
interface Attempt {
  readonly target: Target;
  readonly child: ChildChannel;
  readonly controlPath: string;
  /** Resolves when ssh creates its control socket, which it does after the login. */
  readonly loggedIn: Promise<unknown>;
  readonly keysExchanged: Promise<unknown>;
  /** Resolves when ssh has ended without a login. */
  readonly failed: Promise<unknown>;
  /** Resolves when another run has just created the persistent connection that this one was to become. */
  readonly taken: Promise<unknown>;
  log(): string;
  /** True if small packets do not wait for acknowledgements of earlier ones. */
  sendsAtOnce(): boolean;
  /** The two parts of that. */
  said(): { readonly log: string; readonly banner: string };
  /** The log of the jump host's connection since this attempt began. */
  jumpLog(): string;
}

async function startMaster(
  target: Target,
  via: Master | undefined,
  persistentPath: string | undefined,
  context: MasterContext,
): Promise<Master> {
  const { settings, prompter } = context;
  const deadline = startDeadline(settings.connectTimeoutMs);
  const asker = prompter.attach(target.destination.label, deadline);
  const attempt = startSsh(target, via, persistentPath, asker, context);
  try {
    const took = await login(attempt, deadline, settings);
    showText(target, attempt, settings);
    if (took === 'taken') {
      await endChild(attempt.child);
      return persistentMaster(attempt.controlPath, context.dir);
    }
    if (persistentPath !== undefined) return persistentMaster(persistentPath, context.dir, took, attempt.log);
    attempt.child.stdin.write(LOGGED_IN);
    return runningMaster(attempt, took, context.dir);
  } catch (error) {
    await endChild(attempt.child);
    throw asker.asked() || !isDroppedBeforeLogin(attempt.log()) ? error : new DroppedConnectionError(error);
  } finally {
    deadline.stop();
    asker.release();
  }
}

/** A line of `dieWithParent`. */
const NO_DELAY = /^no delay$/m;

function hasProxyCommand({ config }: Target): boolean {
  return (config.get('proxycommand')?.[0] ?? 'none') !== 'none';
}

/** Tells `dieWithParent` that the login is over; ssh does not read it. */
const LOGGED_IN = '\n';

/** Emits what ssh has printed, unless its LogLevel hides it. */
function showText({ config, destination }: Target, attempt: Attempt, { emit }: SessionSettings): void {
  const { log, banner } = attempt.said();
  const [level = 'INFO'] = config.get('loglevel') ?? [];
  if (`${log}${banner}` === '' || HIDING_LEVELS.includes(level)) return;
  emit({ kind: 'login_text', host: destination.label, log, banner });
}

const HIDING_LEVELS: readonly string[] = ['QUIET', 'FATAL', 'ERROR'];

function startSsh(
  target: Target,
  via: Master | undefined,
  persistentPath: string | undefined,
  asker: Asker,
  { settings, ssh, dir }: MasterContext,
): Attempt {
  const controlPath = persistentPath ?? dir.newPath('c');
  const logPath = dir.newPath('log');
  const keysExchanged = dir.until(logPath, () => hasExchangedKeys(readLog(logPath)));
  const persistS = persistentPath === undefined ? 0 : settings.persistS;
  const options = [
    ...asker.options,
    ...connectOptions(settings, persistS),
    ...(via ? [jumpOption(ssh, via.controlPath)] : []),
  ];
  const command = [
    ...(persistentPath === undefined ? settings.dieWithParent : DIE_WITH_PARENT_AT_LOGIN),
    ssh.path,
    ...masterArguments(target, controlPath, logPath, options),
  ];
  const earlier = via?.log().length ?? 0;
  const child = startChild(command, { ...ssh.env, ...asker.env });
  const ofParent = keepTail(child.stdout);
  const stderr = keepTail(child.stderr);
  const isPersistent = child.closed.then(({ code }) => persistentPath !== undefined && code === 0);
  const never = new Promise<never>(() => {});
  return {
    target,
    child,
    controlPath,
    loggedIn:
      persistentPath === undefined
        ? dir.until(controlPath, () => existsSync(controlPath))
        : isPersistent.then((yes) => (yes ? undefined : never)),
    keysExchanged,
    failed: isPersistent.then((yes) => (yes ? never : undefined)),
    taken: keysExchanged.then(() => dir.until(logPath, () => isSocketTaken(readLog(logPath)))),
    // Without its own TCP connection, ssh has no influence on that.
    sendsAtOnce: () => via !== undefined || hasProxyCommand(target) || NO_DELAY.test(ofParent()),
    log: () => `${plainLog(readLog(logPath))}${stderr()}`,
    said: () => ({ log: plainLog(readLog(logPath)), banner: stderr() }),
    jumpLog: () => via?.log().slice(earlier) ?? '',
  };
}

/** Waits until the connection is open; throws if it fails. Key exchange and login have the full time limit each. */
async function login(attempt: Attempt, deadline: Deadline, settings: SessionSettings): Promise<OpeningTimes | 'taken'> {
  const { child, target, keysExchanged, loggedIn, failed, taken } = attempt;
  let connectMs: number | undefined;
  void keysExchanged.then(() => {
    connectMs = deadline.restart();
  });
  const outcome = await Promise.race([
    loggedIn.then(() => 'connected' as const),
    failed.then(() => 'ended' as const),
    taken.then(() => 'taken' as const),
    whenAborted(AbortSignal.any([deadline.expired, settings.signal])),
  ]);
  settings.signal.throwIfAborted();
  if (outcome === 'connected') return { connectMs: connectMs ?? 0, loginMs: deadline.stop() };
  if (outcome === 'taken') return outcome;
  if (outcome === 'ended') {
    throw child.startError() ?? connectError(target.destination, `${attempt.log()}${attempt.jumpLog()}`);
  }
  throw connectMs === undefined
    ? connectTimeoutError(target.destination, target.port, settings.connectTimeoutMs)
    : loginTimeoutError(target.destination, settings.connectTimeoutMs);
}

function runningMaster({ child, controlPath, log, sendsAtOnce }: Attempt, took: OpeningTimes, dir: PrivateDir): Master {
  let closing = false;
  let gone = false;
  void child.closed.then(() => {
    gone = true;
  });
  return {
    controlPath,
    proxies: sendsAtOnce,
    newPath: dir.newPath,
    took,
    log,
    ended: child.closed,
    lost: () => gone && !closing,
    close() {
      closing = true;
      return endChild(child);
    },
  };
}

/** `dieWithParent` ends its command when its input ends; a command that hangs is killed. */
async function endChild(child: ChildChannel): Promise<void> {
  child.stdin.end();
  await settlesWithin(child.closed, LONGEST_END_MS);
  child.kill();
}

/**
 * While ssh logs in, the end of its input ends it and its ProxyCommand. After the login it goes into the background and
 * is kept. (`dieWithParent` would also end everything that its command leaves running.)
 */
const DIE_WITH_PARENT_AT_LOGIN = [
  'sh',
  '-c',
  `exec 3<&0; "$@" </dev/null 3<&- & command=$!
  { read -r nothing <&3; kill -s KILL 0; } >/dev/null 2>&1 & watcher=$!
  wait "$command"; status=$?; kill "$watcher" 2>/dev/null; exit "$status"`,
  'sh',
];
