// SPDX-License-Identifier: Apache-2.0
// Requirements of a test: a missing one fails it in CI and skips it, with the reason, elsewhere.
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { execaSync } from 'execa';
import type { Context } from 'mocha';

export function needsTool(test: Context, ...tools: readonly string[]): void {
  const missing = tools.filter((tool) => !onPath(tool));
  if (missing.length > 0) lack(test, `${missing.join(', ')} not installed`);
}

export function needsRoot(test: Context): void {
  if (process.getuid?.() !== 0) lack(test, 'only root may do this');
}

/**
 * rdsend, rdrecv and rdstage are not dumpable: root owns their environment, program, descriptors and memory in /proc.
 */
export function needsSightOfPrograms(test: Context): void {
  if (process.getuid?.() !== 0) lack(test, 'only root sees which native programs are of this test');
}

export function needsFile(test: Context, path: string): void {
  if (!isThere(path, constants.F_OK)) lack(test, `no ${path} on this machine`);
}

/** The kernel does not create them in a chroot, and some systems do not allow them to users. */
export function needsUserNamespaces(test: Context): void {
  if (execaSync('unshare', ['--user', '--map-root-user', 'true'], { reject: false }).failed)
    lack(test, 'no user namespace can be made here');
}

/** Any other requirement; `missing` describes it, undefined if it is met. */
export function needs(test: Context, missing: string | undefined): void {
  if (missing !== undefined) lack(test, missing);
}

function lack(test: Context, reason: string): never {
  if (process.env.CI) throw new Error(reason);
  console.error(`      skipped: ${reason}`);
  return test.skip();
}

/** Also looks in sbin, where Debian installs servers, and which is not in the PATH of users. */
export function onPath(tool: string): boolean {
  const directories = [...(process.env.PATH ?? '').split(delimiter), '/usr/sbin', '/sbin'];
  return directories.some((directory) => isThere(join(directory, tool), constants.X_OK));
}

function isThere(path: string, mode: number): boolean {
  try {
    accessSync(path, mode);
    return true;
  } catch {
    return false;
  }
}
