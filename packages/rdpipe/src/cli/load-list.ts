/** Reads the list of --files-from, if it is short enough to be part of the requests to the hosts. */
import { closeSync, fstatSync, openSync, read } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import { promisify } from 'node:util';
import { type CopyList, LIST_MAX_BYTES } from '../copy/settings.ts';
import { UsageError } from '../model/errors.ts';
import { formatBytes } from '../model/units.ts';
import { checkOpen, descriptorOf } from './own-descriptors.ts';

/**
 * Returns the whole list, or its beginning: of `-` or a descriptor of this process, what is no longer in it; of another
 * file, nothing.
 * @throws UsageError if the file cannot be read.
 */
export async function loadList(file: string | undefined): Promise<CopyList | undefined> {
  if (file === undefined) return undefined;
  const own = file === '-' ? 0 : descriptorOf(file);
  if (own !== undefined && file !== '-') checkOpen(own, `--files-from ${file}`);
  try {
    return own === undefined ? await readFile(file) : await readList(own);
  } catch (error) {
    if (error instanceof UsageError) throw error;
    const { code, message } = error as NodeJS.ErrnoException;
    throw new UsageError(`--files-from: cannot read ${file}: ${code ?? message}`);
  }
}

async function readFile(file: string): Promise<CopyList> {
  const descriptor = openSync(file, 'r');
  try {
    const list = await readList(descriptor);
    if (list.isWhole) return list;
    if (fstatSync(descriptor).isFile()) return { text: Buffer.alloc(0), isWhole: false };
  } finally {
    closeSync(descriptor);
  }
  // The stage that would send the list would miss what was read of it.
  const size = formatBytes(LIST_MAX_BYTES);
  throw new UsageError(
    `--files-from: ${file} is longer than ${size}, and not a regular file (use --files-from - <${file})`,
  );
}

const readSome = promisify(read);
const ROOM_BYTES = 64 * 1024;
/** For a descriptor that another process has made nonblocking. */
const AGAIN_MS = 10;

async function readList(descriptor: number): Promise<CopyList> {
  const parts: Buffer[] = [];
  let bytes = 0;
  while (bytes <= LIST_MAX_BYTES) {
    const part = await readPart(descriptor);
    if (part.length === 0) return { text: Buffer.concat(parts), isWhole: true };
    parts.push(part);
    bytes += part.length;
  }
  return { text: Buffer.concat(parts), isWhole: false };
}

async function readPart(descriptor: number): Promise<Buffer> {
  for (;;) {
    try {
      const { bytesRead, buffer } = await readSome(descriptor, Buffer.alloc(ROOM_BYTES), 0, ROOM_BYTES, null);
      return buffer.subarray(0, bytesRead);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') throw error;
      await setTimeout(AGAIN_MS);
    }
  }
}
