/** One ssh connection that channels, forwards and jumps share. */
import { existsSync } from 'node:fs';
import { settlesWithin, whenAborted } from './abort.ts';
import { type ChildChannel, startChild } from './child-channel.ts';
import { type Deadline, startDeadline } from './deadline.ts';
import { connectPatiently, DroppedError } from './dropped.ts';
import { connectError, connectTimeoutError, isDroppedBeforeLogin } from './errors.ts';
import type { Limit } from './limit.ts';
import type { PrivateDir } from './private-dir.ts';
import type { Asker, Prompter } from './prompts.ts';
import type { Route } from './resolve.ts';
import type { SessionSettings } from './settings.ts';
import { controlArguments, jumpOption, masterArguments } from './ssh-arguments.ts';
import { readLog } from './ssh-log.ts';
import { runSsh, type SshProgram } from './ssh-program.ts';
import { keepTail } from './text-tail.ts';

export interface Master {
  readonly controlPath: string;
  /** A new path in the run's private directory. */
  newPath(kind: string): string;
  /** What its ssh printed so far. */
  log(): string;
  /** Resolves when its ssh has ended; never for a connection of the user's. */
  readonly ended: Promise<unknown>;
  /** Whether it ended although nobody closed it. */
  lost(): boolean;
  close(): Promise<void>;
}

export interface MasterContext {
  readonly settings: SessionSettings;
  readonly ssh: SshProgram;
  /** Private to the run. */
  readonly dir: PrivateDir;
  readonly prompter: Prompter;
  /** How many connect at a time. */
  readonly limit: Limit;
}

const LONGEST_END_MS = 2000;

/** The user's own connection where one stands, else one of ours, through the jump host's. */
export async function connectMaster(route: Route, via: Master | undefined, context: MasterContext): Promise<Master> {
  const users = await usersMaster(route, context);
  if (users) return users;
  const connect = () => startMaster(route, via, context);
  return connectPatiently(route.destination.label, connect, context.limit, context.settings);
}

async function usersMaster(route: Route, { dir, settings, ssh }: MasterContext): Promise<Master | undefined> {
  const { controlPath } = route;
  if (controlPath === undefined) return undefined;
  const check = await runSsh(ssh, controlArguments(controlPath, 'check'), settings.signal);
  if (check.code !== 0) return undefined;
  settings.emit({ kind: 'log', message: `${route.destination.label}: uses the ssh connection that stands already` });
  return {
    controlPath,
    newPath: dir.newPath,
    log: () => '',
    ended: new Promise(() => {}),
    lost: () => !existsSync(controlPath),
    close: async () => {},
  };
}

/** An ssh on its way to becoming a master. */
interface Attempt {
  readonly route: Route;
  readonly child: ChildChannel;
  readonly controlPath: string;
  log(): string;
  /** What the jump host's connection printed since this attempt began. */
  jumpLog(): string;
}

async function startMaster(route: Route, via: Master | undefined, context: MasterContext): Promise<Master> {
  const { settings, prompter } = context;
  const deadline = startDeadline(settings.connectTimeoutMs);
  const asker = prompter.attach(route.destination.label, deadline);
  const controlPath = context.dir.newPath('c');
  // ssh makes its control socket when the login has succeeded.
  const appeared = context.dir.made(controlPath);
  const attempt = launch(route, via, controlPath, asker, context);
  try {
    await login(attempt, appeared, deadline, settings);
    return standing(attempt, context.dir);
  } catch (error) {
    await endChild(attempt.child);
    throw asker.asked() || !isDroppedBeforeLogin(attempt.log()) ? error : new DroppedError(error);
  } finally {
    deadline.stop();
    asker.release();
  }
}

function launch(
  route: Route,
  via: Master | undefined,
  controlPath: string,
  asker: Asker,
  { settings, ssh, dir }: MasterContext,
): Attempt {
  const logPath = dir.newPath('log');
  const options = [...asker.options, ...connectOptions(settings), ...(via ? [jumpOption(ssh, via.controlPath)] : [])];
  const command = [...settings.leash, ssh.path, ...masterArguments(route, controlPath, logPath, options)];
  const earlier = via?.log().length ?? 0;
  const child = startChild(command, { ...ssh.env, ...asker.env });
  child.stdout.resume();
  const stderr = keepTail(child.stderr);
  return {
    route,
    child,
    controlPath,
    log: () => `${readLog(logPath)}${stderr()}`,
    jumpLog: () => via?.log().slice(earlier) ?? '',
  };
}

/** Waits until the connection stands; throws when it does not come to that. */
async function login(
  attempt: Attempt,
  appeared: Promise<unknown>,
  deadline: Deadline,
  settings: SessionSettings,
): Promise<void> {
  const { child, route } = attempt;
  const outcome = await Promise.race([
    appeared.then(() => 'connected' as const),
    child.closed.then(() => 'ended' as const),
    whenAborted(AbortSignal.any([deadline.expired, settings.signal])),
  ]);
  settings.signal.throwIfAborted();
  if (outcome === 'aborted') throw connectTimeoutError(route.destination, settings.connectTimeoutMs);
  if (outcome === 'ended') {
    throw child.startError() ?? connectError(route.destination, `${attempt.log()}${attempt.jumpLog()}`);
  }
}

function standing({ child, controlPath, log }: Attempt, dir: PrivateDir): Master {
  let closing = false;
  let gone = false;
  void child.closed.then(() => {
    gone = true;
  });
  return {
    controlPath,
    newPath: dir.newPath,
    log,
    ended: child.closed,
    lost: () => gone && !closing,
    close() {
      closing = true;
      return endChild(child);
    },
  };
}

/** The leash ends its command when its input ends; a leash that hangs is killed. */
async function endChild(child: ChildChannel): Promise<void> {
  child.stdin.end();
  await settlesWithin(child.closed, LONGEST_END_MS);
  child.kill();
}

function connectOptions({ connectTimeoutMs, silenceMs }: SessionSettings): string[] {
  const seconds = (ms: number) => Math.max(1, Math.ceil(ms / 1000));
  const silence = silenceMs > 0 ? [`ServerAliveInterval=${seconds(silenceMs / 4)}`, 'ServerAliveCountMax=3'] : [];
  return [`ConnectTimeout=${seconds(connectTimeoutMs)}`, ...silence];
}
