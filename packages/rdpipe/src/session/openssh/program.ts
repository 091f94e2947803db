/** Finds the ssh program and runs it for short answers. */
import { closeSync, openSync, readSync } from 'node:fs';
import { delimiter, dirname, resolve } from 'node:path';
import { findProgram } from '../find-program.ts';
import { killProgram, startProgram } from '../start-program.ts';
import { keepTail } from '../text-tail.ts';

/** The ssh of a run: searched for once, so that every call uses the same one. */
export interface SshProgram {
  /** Absolute path. */
  readonly path: string;
  /** Added to the environment of its calls. */
  readonly env: Readonly<Record<string, string>>;
}

/** Returns the ssh that the user named, otherwise the first one in PATH; undefined if this machine has none. */
export function locateSsh(named?: string, searchPath = process.env.PATH ?? ''): SshProgram | undefined {
  const directories = searchPath.split(delimiter).filter((directory) => directory !== '');
  const path = named ?? findProgram('ssh', searchPath);
  return path === undefined ? undefined : { path: resolve(path), env: standInEnvironment(path, directories) };
}

/**
 * A script that replaces ssh and calls `ssh` means the next one in PATH, but would find itself: so its directory is
 * searched last.
 */
function standInEnvironment(path: string, directories: readonly string[]): SshProgram['env'] {
  const own = directories.filter((directory) => resolve(directory) === dirname(resolve(path)));
  if (own.length === 0 || !isScript(path)) return {};
  return { PATH: [...directories.filter((directory) => !own.includes(directory)), ...own].join(delimiter) };
}

function isScript(path: string): boolean {
  try {
    const fd = openSync(path, 'r');
    const begin = Buffer.alloc(2);
    readSync(fd, begin);
    closeSync(fd);
    return begin.toString('latin1') === '#!';
  } catch {
    return false;
  }
}

export interface SshOutput {
  /** Null if ssh could not be started, or a signal ended it. */
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/**
 * Runs ssh for its own output (`-G`, `-O`), without input.
 * @throws the signal's reason.
 */
export async function runSsh(ssh: SshProgram, args: readonly string[], signal: AbortSignal): Promise<SshOutput> {
  signal.throwIfAborted();
  const child = startProgram([ssh.path, ...args], ['ignore', 'pipe', 'pipe'], ssh.env);
  const output = [child.stdout, child.stderr].map((stream) => stream && keepTail(stream, BYTES_MAX));
  const stop = () => {
    killProgram(child);
    // The master of a connection that this ssh used may hold the other ends of these pipes.
    for (const stream of [child.stdout, child.stderr]) stream?.destroy();
  };
  signal.addEventListener('abort', stop);
  const code = await new Promise<number | null>((resolve) => {
    child.once('close', resolve);
    child.once('error', () => resolve(null));
  });
  signal.removeEventListener('abort', stop);
  signal.throwIfAborted();
  const [stdout = '', stderr = ''] = output.map((text) => text?.());
  return { code, stdout, stderr };
}

const BYTES_MAX = 1024 * 1024;
