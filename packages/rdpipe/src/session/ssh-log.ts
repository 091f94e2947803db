import { closeSync, fstatSync, openSync, readSync } from 'node:fs';

const MOST_BYTES = 64 * 1024;

/** The end of what an ssh with `-E PATH` printed so far, apart from the output of what it runs. */
export function readLog(path: string): string {
  let fd: number;
  try {
    fd = openSync(path, 'r');
  } catch {
    return '';
  }
  try {
    const buffer = Buffer.alloc(MOST_BYTES);
    const length = readSync(fd, buffer, 0, MOST_BYTES, Math.max(0, fstatSync(fd).size - MOST_BYTES));
    return buffer.toString('utf8', 0, length);
  } finally {
    closeSync(fd);
  }
}
