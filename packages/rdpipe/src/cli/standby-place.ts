/** Finds and starts the standby of rdssh. */
import { statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { localDirectory } from '../agent/local-directory.ts';
import { isListenedTo } from '../session/openssh/persistent-master.ts';
import { privatePath } from '../session/openssh/persistent-path.ts';
import { startProgram } from '../session/start-program.ts';

/** How long a standby waits for the next command, and how long after a command another one makes it a loop. */
export const IDLE_MS = 5000;

/** Call after a command: starts a standby if the last command was a short time ago. */
export async function startStandbyInLoop(): Promise<void> {
  const path = standbyPath();
  if (path === undefined || process.argv[1] === undefined) return;
  const mark = join(dirname(path), 'standby.last');
  const ageMs = Date.now() - (statSync(mark, { throwIfNoEntry: false })?.mtimeMs ?? 0);
  writeFileSync(mark, '', { mode: 0o600 });
  if (ageMs > IDLE_MS || (await isListenedTo(path))) return;
  const environment = { RDPIPE_PROGRAM: 'rdssh-standby', RDPIPE_LOCAL_DIRECTORY: localDirectory() };
  startProgram([process.execPath, process.argv[1]], ['ignore', 'ignore', 'ignore'], environment).unref();
}

/**
 * Returns the path of the socket, which the front also computes (ssh/standby.c); undefined if there is no private
 * directory. Another version of the programs uses another one.
 */
export function standbyPath(): string | undefined {
  const directory = localDirectory();
  if (directory === undefined) return undefined;
  const { dev, ino, mtimeNs } = statSync(join(directory, 'rdhop'), { bigint: true });
  const seconds = mtimeNs / 1_000_000_000n;
  return privatePath(`standby-${[dev, ino, seconds].map((number) => number.toString(16)).join('-')}`);
}
