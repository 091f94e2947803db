/** Hosts that are left to plain ssh for an hour, such as those with a forced command. */
import { createHash } from 'node:crypto';
import { statSync, utimesSync, writeFileSync } from 'node:fs';
import type { SshConfig } from '../settings.ts';
import { privatePath } from './persistent-path.ts';

/** Limited, because a login shell may have been slow only once, or may have been fixed. */
const KEPT_MS = 60 * 60 * 1000;

/**
 * Returns the file with which a run within the last hour left a host of this configuration to ssh; undefined if there
 * is none.
 */
export function plainHostFile(config: SshConfig): string | undefined {
  const path = pathOf(config);
  const madeMs = path === undefined ? undefined : statSync(path, { throwIfNoEntry: false })?.mtimeMs;
  return madeMs !== undefined && Math.abs(Date.now() - madeMs) < KEPT_MS ? path : undefined;
}

/**
 * Leaves hosts of this configuration to ssh for an hour. If the file cannot be written, the next run tries the host
 * again.
 */
export function keepPlainHost(config: SshConfig): void {
  const path = pathOf(config);
  if (path === undefined) return;
  try {
    writeFileSync(path, '', { mode: 0o600 });
    const now = new Date();
    utimesSync(path, now, now);
  } catch {}
}

function pathOf(config: SshConfig): string | undefined {
  const digest = createHash('sha256').update(JSON.stringify([...config]));
  return privatePath(`plain-${digest.digest('hex').slice(0, 20)}`);
}
