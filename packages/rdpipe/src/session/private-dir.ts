import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { type ChildChannel, startChild } from './child-channel.ts';

/** Socket paths end at 107 bytes, and ssh appends 17 of its own while it binds. */
const LONGEST_BASE = 60;
/** What ssh, its percent signs and any shell take as it is. */
const PLAIN_PATH = /^\/[\w./-]*$/;

export interface PrivateDir {
  readonly path: string;
  /** A path in it that nobody has yet. */
  newPath(kind: string): string;
  remove(): Promise<void>;
}

/**
 * Makes a directory that only this user may enter, with a path short and plain enough for sockets. Should this process be
 * killed, it is removed all the same.
 */
export async function makePrivateDir(runtimeDir = process.env.XDG_RUNTIME_DIR): Promise<PrivateDir> {
  const path = (await tryMake(runtimeDir)) ?? (await mkdtemp('/tmp/rdpipe-'));
  const keeper = startKeeper(path);
  let count = 0;
  return {
    path,
    newPath(kind) {
      count += 1;
      return join(path, `${kind}${count}`);
    },
    async remove() {
      keeper.stdin.end();
      await keeper.closed;
      await rm(path, { recursive: true, force: true }); // the keeper may have been killed
    },
  };
}

/** Removes the directory when its standard input ends, as that of a killed process does. */
function startKeeper(path: string): ChildChannel {
  return startChild(['sh', '-c', 'read -r nothing; exec rm -rf -- "$1"', 'sh', path]);
}

async function tryMake(base: string | undefined): Promise<string | undefined> {
  if (base === undefined || base.length > LONGEST_BASE || !PLAIN_PATH.test(base)) return undefined;
  return mkdtemp(join(base, 'rdpipe-')).catch(() => undefined);
}
