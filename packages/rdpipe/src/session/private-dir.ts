/** The run's private directory for sockets and logs, removed even if rdpipe is killed. */
import { type FSWatcher, mkdtempSync, rmdirSync, rmSync, watch } from 'node:fs';
import { join } from 'node:path';
import { type ChildChannel, startChild } from './child-channel.ts';

/** Socket paths end at 107 bytes (103 on some systems), and ssh appends 17 of its own while it binds. */
const LONGEST_SOCKET_PATH = 86;
const LONGEST_BASE = 60;
/** Needs no quoting for ssh, its percent tokens or any shell. */
const PLAIN_PATH = /^\/[\w./-]*$/;

export interface PrivateDir {
  readonly path: string;
  /** A path in it that is not in use yet. */
  newPath(kind: string): string;
  /**
   * Resolves when the condition holds, which is tested now and at each change of a path of `newPath`. One wait a path.
   */
  until(path: string, holds: () => boolean): Promise<void>;
  remove(): Promise<void>;
}

/**
 * Makes a directory that only this user may enter, with a path short and plain enough for sockets. Should this process
 * be killed, it is removed all the same.
 */
export function makePrivateDir(runtimeDir = process.env.XDG_RUNTIME_DIR): PrivateDir {
  const path = tryMake(runtimeDir) ?? mkdtempSync('/tmp/rdpipe-');
  const remover = startRemover(path);
  const awaited = new Map<string, () => void>();
  let watcher: FSWatcher | undefined;
  let count = 0;
  return {
    path,
    newPath(kind) {
      count += 1;
      return join(path, `${kind}${count}`);
    },
    until(awaitedPath, holds) {
      watcher ??= watch(path, (_event, name) => awaited.get(join(path, name ?? ''))?.());
      return new Promise((resolve) => {
        if (holds()) resolve();
        awaited.set(awaitedPath, () => {
          if (!holds()) return;
          awaited.delete(awaitedPath);
          resolve();
        });
      });
    },
    async remove() {
      watcher?.close();
      if (isRemoved(path))
        remover.kill(); // it would start a program to find nothing left
      else remover.stdin.end();
      await remover.closed;
    },
  };
}

/**
 * Removes the directory when its standard input ends, as that of a killed process does. Where it cannot be started
 * there is none.
 */
function startRemover(path: string): ChildChannel {
  try {
    return startChild(['sh', '-c', 'read -r nothing; exec rm -rf -- "$1"', 'sh', path]);
  } catch (error) {
    rmdirSync(path);
    throw error;
  }
}

/** Reading a directory takes a descriptor, and none may be left. */
function isRemoved(path: string): boolean {
  try {
    rmSync(path, { recursive: true, force: true });
    return true;
  } catch {
    return false;
  }
}

export function isPlainSocketPath(path: string): boolean {
  return path.length <= LONGEST_SOCKET_PATH && PLAIN_PATH.test(path);
}

function tryMake(base: string | undefined): string | undefined {
  if (base === undefined || base.length > LONGEST_BASE || !PLAIN_PATH.test(base)) return undefined;
  try {
    return mkdtempSync(join(base, 'rdpipe-'));
  } catch {
    return undefined;
  }
}
