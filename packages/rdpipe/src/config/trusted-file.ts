/** Reads a file that only the user or root can have written. */
import type { Stats } from 'node:fs';
import { type FileHandle, open, readlink, realpath, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { UsageError } from '../model/errors.ts';
import { printable } from '../model/text.ts';

/**
 * The text of a file that decides which programs run: only the user and root may write or replace it. Checks the open
 * file, the directory of its path, and its directory after all links.
 * @throws UsageError with a remedy; the system's error if the file cannot be read.
 */
export async function readTrustedFile(path: string): Promise<string> {
  const file = await open(path);
  try {
    const status = await file.stat();
    refuseOthers(path, status);
    for (const directory of await directoriesOf(path, file))
      refuseOthersOfDirectory(path, directory, await stat(directory));
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
    const reason = `it belongs to uid ${status.uid}, which is neither you nor root`;
    throw refusal(path, reason, `if you wrote it: chown ${ownUid()} ${shown}`);
  }
  // Everyone may write /dev/null, which stays empty.
  if (status.isCharacterDevice() || (status.mode & WRITABLE_BY_OTHERS) === 0) return;
  throw refusal(path, `other users can write it, mode ${octal(status)}`, `chmod go-w ${shown}`);
}

/** Sticky directories such as /tmp are accepted: no other user can replace the file there. */
function refuseOthersOfDirectory(path: string, directory: string, status: Stats): void {
  const shown = printable(directory);
  if (!isOurs(status)) {
    throw refusal(
      path,
      `its directory ${shown} belongs to uid ${status.uid}, which is neither you nor root`,
      'move it to another directory',
    );
  }
  if ((status.mode & WRITABLE_BY_OTHERS) === 0 || (status.mode & STICKY) !== 0) return;
  throw refusal(path, `other users can write its directory ${shown}, mode ${octal(status)}`, `chmod go-w ${shown}`);
}

/** The directory of the path, and that of the file after all links, which a pipe does not have. */
async function directoriesOf(path: string, { fd }: FileHandle): Promise<ReadonlySet<string>> {
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
  return new UsageError(`refusing to read the config file ${printable(path)}: ${reason} (${next})`);
}
