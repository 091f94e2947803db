/** The run's private directory for sockets and logs, which is removed even if rdpipe is killed. */
import { type FSWatcher, mkdtempSync, rmdirSync, rmSync, watch } from 'node:fs';
import { join } from 'node:path';
import { type ChildChannel, startChild } from './child-channel.ts';

/** Socket paths are limited to 107 bytes (103 on some systems), and ssh appends 17 bytes while it binds. */
const LONGEST_SOCKET_PATH = 86;
const LONGEST_BASE = 60;
/** A path that needs no quoting for ssh, its percent tokens or any shell. */
const PLAIN_PATH = /^\/[\w./-]*$/;

export interface PrivateDir {
  readonly path: string;
  /** Returns an unused path in the directory. */
  newPath(kind: string): string;
  /**
   * Resolves when the condition holds. It is tested now and at each change of `path`, which must be from `newPath`. One
   * wait per path.
   */
  until(path: string, holds: () => boolean): Promise<void>;
  remove(): Promise<void>;
}

/**
 * Creates a directory that only this user can access, with a path that is short and plain enough for sockets. It is
 * removed even if this process is killed.
 */
export function makePrivateDir(runtimeDir = process.env.XDG_RUNTIME_DIR): PrivateDir {
  const path = tryMake(runtimeDir) ?? mkdtempSync('/tmp/rdpipe-');
  const remover = startRemover(path);
  const awaited = new Map<string, () => void>();
  const changed = new Set<string>();
  const testChanged = () => {
    const paths = [...changed];
    changed.clear();
    for (const each of paths) awaited.get(each)?.();
  };
  let watcher: FSWatcher | undefined;
  let count = 0;
  return {
    path,
    newPath(kind) {
      count += 1;
      return join(path, `${kind}${count}`);
    },
    until(awaitedPath, holds) {
      watcher ??= watch(path, (_event, name) => {
        // node serves nothing else while changes keep arriving, and what waits for one may take long.
        if (changed.size === 0) setImmediate(testChanged);
        changed.add(join(path, name ?? ''));
      });
      return new Promise((resolve) => {
        if (holds()) return resolve();
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
        remover.kill(); // it would start rm to find nothing left
      else remover.stdin.end();
      await remover.closed;
    },
  };
}

/**
 * Removes the directory when its standard input ends, which also happens if this process is killed. If the program
 * cannot be started, removes the directory and throws.
 */
function startRemover(path: string): ChildChannel {
  try {
    return startChild(['sh', '-c', 'read -r nothing; exec rm -rf -- "$1"', 'sh', path]);
  } catch (error) {
    rmdirSync(path);
    throw error;
  }
}

/**
 * Removes the directory. Returns false if this failed: reading a directory takes a descriptor, and none may be left.
 */
function isRemoved(path: string): boolean {
  try {
    rmSync(path, { recursive: true, force: true });
    return true;
  } catch {
    return false;
  }
}

/** True if ssh can bind a socket at this path, and the path needs no quoting. */
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
