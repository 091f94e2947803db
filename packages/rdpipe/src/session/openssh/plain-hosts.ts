/** Hosts that are for ssh alone, as those of a forced command: an hour long no run tries again. */
import { createHash } from 'node:crypto';
import { statSync, utimesSync, writeFileSync } from 'node:fs';
import type { SshConfig } from '../settings.ts';
import { privatePath } from './persistent-path.ts';

/** A login shell may have been slow once, or be mended. */
const KEPT_MS = 60 * 60 * 1000;

/** The file by which a run of the last hour has left a host of this configuration to ssh; undefined: none. */
export function plainHostFile(config: SshConfig): string | undefined {
  const path = pathOf(config);
  const madeMs = path === undefined ? undefined : statSync(path, { throwIfNoEntry: false })?.mtimeMs;
  return madeMs !== undefined && Math.abs(Date.now() - madeMs) < KEPT_MS ? path : undefined;
}

/** Where no file can be written, the next run finds it out again. */
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
