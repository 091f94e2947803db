/** Reads the key of a client of `rdrecv --serve` from a file that only its owner can read. */
import { createHmac, scrypt } from 'node:crypto';
import type { Stats } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { promisify } from 'node:util';
import { UsageError } from '../model/errors.ts';
import { printable } from '../model/text.ts';

const stretch = promisify<string, string, number, { N: number; r: number; p: number; maxmem: number }, Buffer>(scrypt);

const KEY_BYTES = 32;
const FILE_MAX_BYTES = 1024;
const USED_BY_OTHERS = 0o077;

/**
 * Returns the pre-shared key that is derived from the file's line: docs/protocol/serving.md, section 6.1.
 * @throws UsageError with a remedy.
 */
export async function readServedKey(path: string): Promise<Buffer> {
  const shown = printable(path);
  const file = await open(path).catch((error: Error) => {
    throw new UsageError(`cannot read the key file ${shown}: ${error.message}`);
  });
  try {
    checkOwner(shown, await file.stat());
    return await pskOf(oneLine(shown, await readText(shown, file)));
  } finally {
    await file.close();
  }
}

function checkOwner(shown: string, status: Stats): void {
  const uid = process.geteuid?.();
  if (!status.isFile()) throw new UsageError(`the key file ${shown} is not a regular file`);
  if (status.uid !== 0 && status.uid !== uid) {
    const owner = `it belongs to uid ${status.uid}, which is neither you nor root`;
    throw new UsageError(`refusing to read the key file ${shown}: ${owner} (make your own copy)`);
  }
  if ((status.mode & USED_BY_OTHERS) === 0) return;
  const mode = (status.mode & 0o7777).toString(8).padStart(4, '0');
  throw new UsageError(
    `refusing to read the key file ${shown}: other users can use it, mode ${mode} (chmod go= ${shown})`,
  );
}

async function readText(shown: string, file: FileHandle): Promise<string> {
  const { bytesRead, buffer } = await file.read(Buffer.alloc(FILE_MAX_BYTES + 1));
  if (bytesRead > FILE_MAX_BYTES) throw new UsageError(`the key file ${shown} has more than ${FILE_MAX_BYTES} bytes`);
  return buffer.toString('utf8', 0, bytesRead);
}

function oneLine(shown: string, text: string): string {
  const [, line] = /^([^\r\n\0]+)[\r\n]*$/.exec(text) ?? [];
  if (line === undefined || line.trim() === '')
    throw new UsageError(`the key file ${shown} must hold one line, the key`);
  return line;
}

async function pskOf(text: string): Promise<Buffer> {
  const key = /^[0-9A-Fa-f]{64}$/.test(text)
    ? Buffer.from(text, 'hex')
    : await stretch(text, 'rdpipe/1 key', KEY_BYTES, { N: 2 ** 15, r: 8, p: 1, maxmem: 2 ** 26 });
  return createHmac('sha256', key).update('rdpipe-serve/1').digest();
}
