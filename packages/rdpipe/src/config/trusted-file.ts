/** Reads a file that only its owner (the user or root) can have written. */
import type { Stats } from 'node:fs';
import { type FileHandle, open, readlink, realpath, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { UsageError } from '../model/errors.ts';
import { printable } from '../model/text.ts';

/**
 * The text of a file that says what is run: only we and root may have written it, or may put another in its place. What is
 * looked at is what is read, and where that lies after all links.
 * @throws UsageError with what mends it; the system's error where the file cannot be read.
 */
export async function readTrustedFile(path: string): Promise<string> {
  const file = await open(path);
  try {
    const status = await file.stat();
    refuseOthers(path, status);
    for (const folder of await foldersOf(path, file)) refuseOthersOfFolder(path, folder, await stat(folder));
    return await file.readFile('utf8');
  } finally {
    await file.close();
  }
}

const WRITABLE_BY_OTHERS = 0o022;
const STICKY = 0o1000;

function refuseOthers(path: string, status: Stats): void {
  const shown = printable(path);
  if (!isOurs(status)) {
    const reason = `it belongs to uid ${status.uid}, who is neither you nor root`;
    throw refusal(path, reason, `chown ${ownUid()} ${shown}, if what it says is yours`);
  }
  // /dev/null is everybody's, and says nothing.
  if (status.isCharacterDevice() || (status.mode & WRITABLE_BY_OTHERS) === 0) return;
  throw refusal(path, `others may write it (mode ${octal(status)})`, `chmod go-w ${shown}`);
}

/** In a sticky directory, as /tmp is one, nobody else can put another file in its place. */
function refuseOthersOfFolder(path: string, folder: string, status: Stats): void {
  const shown = printable(folder);
  if (!isOurs(status)) {
    throw refusal(path, `its directory ${shown} belongs to uid ${status.uid}, who is neither you nor root`, 'move it');
  }
  if ((status.mode & WRITABLE_BY_OTHERS) === 0 || (status.mode & STICKY) !== 0) return;
  throw refusal(path, `others may write its directory ${shown} (mode ${octal(status)})`, `chmod go-w ${shown}`);
}

/** Where it was found, and where it is; what is no file of a file system, as a pipe, is nowhere. */
async function foldersOf(path: string, { fd }: FileHandle): Promise<ReadonlySet<string>> {
  const real = await readlink(`/proc/self/fd/${fd}`).catch(() => realpath(path));
  const found = await realpath(dirname(path));
  return new Set(real.startsWith('/') ? [found, dirname(real)] : [found]);
}

function isOurs({ uid }: Stats): boolean {
  return uid === 0 || uid === ownUid();
}

function ownUid(): number | undefined {
  return process.geteuid?.();
}

function octal({ mode }: Stats): string {
  return (mode & 0o7777).toString(8).padStart(4, '0');
}

function refusal(path: string, reason: string, next: string): UsageError {
  return new UsageError(`the config file ${printable(path)} is not obeyed: ${reason}: ${next}`);
}
