/** The socket paths of connections that outlive the run (--persist). */
import { createHash } from 'node:crypto';
import { lstatSync, mkdirSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { isPlainSocketPath } from '../private-dir.ts';
import type { Target } from '../resolve.ts';
import type { SshProgram } from './program.ts';

export interface PersistentConnection {
  readonly target: Target;
  readonly ssh: SshProgram;
  /** Values of -o for the connection. */
  readonly options: readonly string[];
  /** The socket of the connection through which it goes. */
  readonly via: string | undefined;
}

/**
 * Returns the same path for connections with the same settings; undefined if this machine has no directory that is
 * closed to other users.
 */
export function persistentControlPath({ target, ssh, options, via }: PersistentConnection): string | undefined {
  const { destination, identity, config } = target;
  // No connection has a terminal: with and without -T, rdssh uses the same one.
  const settings = [...config].filter(([keyword]) => keyword !== 'requesttty');
  const all = JSON.stringify([ssh.path, destination, identity, settings, options, via]);
  // Completion, which does not know the rest, finds the connection by the host as the user wrote it.
  const name = `${digest(destination.label).slice(0, 8)}${digest(all).slice(0, 16)}`;
  return privatePath(name);
}

/**
 * Returns a path with this name that other users cannot access, the same in every run; undefined if there is no such
 * directory.
 */
export function privatePath(name: string): string | undefined {
  const directory = places().find((place) => isPlainSocketPath(join(place, name)) && isMade(place) && isPrivate(place));
  return directory && join(directory, name);
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

function places(): readonly string[] {
  const { XDG_RUNTIME_DIR: runtimeDir = '' } = process.env;
  const bases = runtimeDir.startsWith('/') ? [runtimeDir] : [];
  return [...bases.map((base) => join(base, 'rdpipe')), join(homedir(), '.cache/rdpipe')].map((base) =>
    join(base, 'ssh'),
  );
}

function isMade(path: string): boolean {
  try {
    mkdirSync(path, { recursive: true, mode: 0o700 });
    return true;
  } catch {
    return false;
  }
}

/**
 * True if only this user can access the directory, and no other user can replace a directory above it: access to the
 * socket is as good as a login.
 */
function isPrivate(path: string): boolean {
  const own = process.getuid?.();
  const found = lstatSync(path);
  if (!found.isDirectory() || found.uid !== own || (found.mode & 0o077) !== 0) return false;
  return ancestors(path).every((directory) => {
    const { uid, mode } = lstatSync(directory);
    return (uid === own || uid === 0) && ((mode & 0o022) === 0 || (mode & 0o1000) !== 0);
  });
}

function ancestors(path: string): readonly string[] {
  const above = dirname(path);
  return above === path ? [] : [above, ...ancestors(above)];
}
