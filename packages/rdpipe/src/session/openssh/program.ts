/** Finds the ssh program and runs it for short answers. */
import { accessSync, closeSync, constants, openSync, readSync, statSync } from 'node:fs';
import { delimiter, dirname, join, resolve } from 'node:path';
import { killProgram, startProgram } from '../start-program.ts';
import { keepTail } from '../text-tail.ts';

/** The ssh of a run: looked up once, so that every call is to the same one. */
export interface SshProgram {
  /** Absolute. */
  readonly path: string;
  /** Added to the environment of its calls. */
  readonly env: Readonly<Record<string, string>>;
}

/** The one that the user named, else the first in PATH; undefined: this machine has none. */
export function locateSsh(named?: string, searchPath = process.env.PATH ?? ''): SshProgram | undefined {
  const directories = searchPath.split(delimiter).filter((directory) => directory !== '');
  const path = named ?? directories.map((directory) => join(directory, 'ssh')).find(isProgram);
  return path === undefined ? undefined : { path: resolve(path), env: standInEnvironment(path, directories) };
}

/** A stand-in that calls `ssh` itself means the next one, and would find itself: its directory is searched last. */
function standInEnvironment(path: string, directories: readonly string[]): SshProgram['env'] {
  const own = directories.filter((directory) => resolve(directory) === dirname(resolve(path)));
  if (own.length === 0 || !isScript(path)) return {};
  return { PATH: [...directories.filter((directory) => !own.includes(directory)), ...own].join(delimiter) };
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
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
  /** Null: it could not be started, or a signal ended it. */
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs ssh for an answer of its own (`-G`, `-O`), without input. */
export async function runSsh(ssh: SshProgram, args: readonly string[], signal: AbortSignal): Promise<SshOutput> {
  signal.throwIfAborted();
  const child = startProgram([ssh.path, ...args], ['ignore', 'pipe', 'pipe'], ssh.env);
  const output = [child.stdout, child.stderr].map((stream) => stream && keepTail(stream, MOST_BYTES));
  const stop = () => {
    killProgram(child);
    // A connection that it was a client of may hold their other ends.
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

const MOST_BYTES = 1024 * 1024;
