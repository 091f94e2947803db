/** Reads the log of an ssh: key exchange done, socket taken, messages. */
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';

/** Makes ssh log the end of its key exchange: that one line where it is selectable (OpenSSH 8.5), else much more. */
export function keyExchangeOption(config: ReadonlyMap<string, readonly string[]>): string {
  return config.has('logverbose') ? 'LogVerbose=kex.c:kex_input_newkeys*:*' : 'LogLevel=DEBUG1';
}

export function hasExchangedKeys(log: string): boolean {
  return /^debug1: .*SSH2_MSG_NEWKEYS received/m.test(log);
}

/** Another ssh was faster in making the socket. */
export function isSocketTaken(log: string): boolean {
  return /^ControlSocket .* already exists/m.test(log);
}

/** The lines that ssh prints at LogLevel=INFO. */
export function plainLog(log: string): string {
  return log.replace(/^(?:debug1: |Authenticated to |Transferred: |Bytes per second: ).*\n?/gm, '');
}

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
