/** Reads the log of an ssh: end of the key exchange, existing control socket, messages. */
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';

/**
 * Returns an option that makes ssh log the end of its key exchange: only that line if ssh supports this (OpenSSH 8.5),
 * otherwise much more.
 */
export function keyExchangeOption(config: ReadonlyMap<string, readonly string[]>): string {
  return config.has('logverbose') ? 'LogVerbose=kex.c:kex_input_newkeys*:*' : 'LogLevel=DEBUG1';
}

/** True if the log shows the end of the key exchange. */
export function hasExchangedKeys(log: string): boolean {
  return /^debug1: .*SSH2_MSG_NEWKEYS received/m.test(log);
}

/** True if another ssh created the control socket first. */
export function isSocketTaken(log: string): boolean {
  return /^ControlSocket .* already exists/m.test(log);
}

/** Returns the lines that ssh prints at LogLevel=INFO. */
export function plainLog(log: string): string {
  return log.replace(/^(?:debug1: |Authenticated to |Transferred: |Bytes per second: ).*\r?\n?/gm, '');
}

const BYTES_MAX = 64 * 1024;

/**
 * Returns the last 64 KiB of the log of an ssh with `-E PATH`, without the output of its command; empty if there is no
 * log.
 */
export function readLog(path: string): string {
  let fd: number;
  try {
    fd = openSync(path, 'r');
  } catch {
    return '';
  }
  try {
    const buffer = Buffer.alloc(BYTES_MAX);
    const length = readSync(fd, buffer, 0, BYTES_MAX, Math.max(0, fstatSync(fd).size - BYTES_MAX));
    return buffer.toString('utf8', 0, length);
  } finally {
    closeSync(fd);
  }
}
