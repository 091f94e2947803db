// SPDX-License-Identifier: Apache-2.0
// The location of a lab: its network namespace, and its directory below the cache.
import { homedir } from 'node:os';
import { join } from 'node:path';

export const CACHE = join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'rdpipe-lab');
export const RUNNING = join(CACHE, 'run');

export interface Place {
  readonly name: string;
  readonly namespace: string;
  /** Keys, ssh configuration, initramfs and the consoles' logs; removed with the lab. */
  readonly directory: string;
}

/** Labs with different names can run at the same time, because their addresses are in different namespaces. */
export function placeOf(name: string): Place {
  return { name, namespace: `rdpipe-lab-${name}`, directory: join(RUNNING, name) };
}
