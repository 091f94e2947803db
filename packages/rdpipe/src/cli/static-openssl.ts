/** Finds the versions of the libraries of this installation's native programs, by starting them. */
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { locateBuilds, THIS_PLATFORM } from '../agent/locate.ts';
import { startPiped } from '../session/start-program.ts';

/** Returns the version of the OpenSSL of the static programs, with which hosts run hops over TCP: `3.5.9`. */
export async function staticOpenssl(): Promise<string | undefined> {
  const directory = locateBuilds().get(THIS_PLATFORM)?.staticDir;
  if (directory === undefined) return undefined;
  return /^OpenSSL (\S+)/m.exec(await versionsIn(directory))?.[1];
}

/** Returns the output of `rdsend --version -v` of the programs in a directory, or why they do not start. */
export async function versionsIn(directory: string): Promise<string> {
  const rdhop = startPiped([join(directory, 'rdhop'), 'rdsend', '--version', '-v']);
  rdhop.stdin.end();
  rdhop.stderr.resume();
  const failed = new Promise<string>((resolve) => rdhop.once('error', ({ message }) => resolve(`${message}\n`)));
  return Promise.race([text(rdhop.stdout), failed]);
}
