/** Masters that outlive the run: the user's own, and those of --persist. */
import { existsSync, rmSync, statSync, utimesSync } from 'node:fs';
import { connect } from 'node:net';
import type { OpeningTimes } from '../host-session.ts';
import type { PrivateDir } from '../private-dir.ts';
import type { Target } from '../resolve.ts';
import type { SessionSettings } from '../settings.ts';
import { connectOptions, controlArguments, probeArguments } from './arguments.ts';
import type { Master, MasterContext } from './master.ts';
import { persistentControlPath } from './persistent-path.ts';
import { runSsh, type SshOutput, type SshProgram } from './program.ts';

/** Returns the user's own connection if it is open. */
export async function usersMaster(target: Target, { dir, settings }: MasterContext): Promise<Master | undefined> {
  const { controlPath } = target;
  if (controlPath === undefined || !(await isListenedTo(controlPath))) return undefined;
  settings.emit({ kind: 'log', message: `${target.destination.label}: using an ssh connection that is already open` });
  return persistentMaster(controlPath, dir);
}

/** Returns a master that stays open at the end of the run. */
export function persistentMaster(
  controlPath: string,
  dir: PrivateDir,
  took?: OpeningTimes,
  log: () => string = () => '',
): Master {
  return {
    controlPath,
    proxies: () => false,
    newPath: dir.newPath,
    took,
    log,
    ended: new Promise(() => {}),
    lost: () => !existsSync(controlPath),
    close: async () => {},
  };
}

/**
 * Returns the socket path of connections with the same settings as this one; undefined if connections are not kept, or
 * if there is no private directory.
 */
export function persistentPathOf(
  target: Target,
  via: Master | undefined,
  { ssh, settings }: MasterContext,
): string | undefined {
  if (settings.persistS === 0) return undefined;
  const path = persistentControlPath({
    target,
    ssh,
    options: connectOptions(settings, settings.persistS),
    via: via?.controlPath,
  });
  if (path === undefined) {
    const message = `cannot keep the connection to ${target.destination.label} (--persist): no private directory for its socket`;
    settings.emit({ kind: 'warning', message });
  }
  return path;
}

/** Returns the connection that an earlier run kept if its far end still answers; otherwise removes its socket. */
export async function earlierMaster(
  target: Target,
  path: string,
  { dir, ssh, settings }: MasterContext,
): Promise<Master | undefined> {
  if (!existsSync(path)) return undefined;
  const { label } = target.destination;
  if ((await hasJustAnswered(path)) || (await answers(path, ssh, settings))) {
    keepTime(path);
    settings.emit({ kind: 'log', message: `${label}: using the ssh connection of an earlier run` });
    return persistentMaster(path, dir);
  }
  await runWithin(LONGEST_END_MS, ssh, controlArguments(path, 'exit'), settings.signal);
  rmSync(path, { force: true });
  settings.emit({ kind: 'log', message: `${label}: the ssh connection of an earlier run is gone` });
  return undefined;
}

const LONGEST_END_MS = 2000;

/**
 * How long an answer is trusted: without this, tools that run many small commands would need a round trip and an ssh
 * for each.
 */
const TRUSTED_MS = 5000;

/** True if the far end answered an earlier run a short time ago, and the ssh is alive. */
async function hasJustAnswered(path: string): Promise<boolean> {
  const ageMs = Date.now() - (statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0);
  return ageMs >= 0 && ageMs < TRUSTED_MS && isListenedTo(path);
}

/** Returns true if a process listens on the socket. */
export function isListenedTo(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(path);
    socket.once('error', () => resolve(false));
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
  });
}

/** Keeps the time of the answer. The socket may already be gone, since the connection ends on its own. */
function keepTime(path: string): void {
  const now = new Date();
  try {
    utimesSync(path, now, now);
  } catch {}
}

/** True if the far end answers: the ssh may be alive although its network is gone. */
async function answers(path: string, ssh: SshProgram, { signal, connectTimeoutMs }: SessionSettings): Promise<boolean> {
  const probe = await runWithin(connectTimeoutMs, ssh, probeArguments(path), signal);
  return probe !== undefined && (probe.code === 0 || REFUSED_BY_FAR_END.test(probe.stderr));
}

/** Matches a refusal for any reason of the server; without a connection ssh prints another message. */
const REFUSED_BY_FAR_END = /forwarding request failed|open failed/;

/** Returns undefined if ssh took longer and was ended. */
async function runWithin(
  limitMs: number,
  ssh: SshProgram,
  args: readonly string[],
  signal: AbortSignal,
): Promise<SshOutput | undefined> {
  const late = AbortSignal.timeout(limitMs);
  try {
    return await runSsh(ssh, args, AbortSignal.any([signal, late]));
  } catch (error) {
    signal.throwIfAborted();
    if (!late.aborted) throw error;
    return undefined;
  }
}
