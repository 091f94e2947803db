// SPDX-License-Identifier: Apache-2.0
// Two ZFS pools on files, in user space. One zfs-fuse daemon a machine: one that runs already is used and left alone.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from './eventually.ts';

export interface ZfsPool {
  readonly name: string;
  /** Where its datasets are mounted. */
  readonly folder: string;
}

export interface Zfs {
  readonly from: ZfsPool;
  readonly to: ZfsPool;
  close(): Promise<void>;
}

const POOL_BYTES = 512 * 1024 * 1024;

export async function startZfs(): Promise<Zfs> {
  const scratch = mkdtempSync(join(tmpdir(), 'rdpipe-test-zfs-'));
  const daemon = isRunning() ? undefined : await startDaemon();
  const from = createPool(scratch, 'from');
  const to = createPool(scratch, 'to');
  return {
    from,
    to,
    close: async () => {
      for (const pool of [from, to]) await eventually(() => destroyPool(pool));
      if (daemon !== undefined) await endDaemon(daemon);
      rmSync(scratch, { recursive: true });
    },
  };
}

function isRunning(): boolean {
  try {
    execFileSync('zpool', ['list'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

async function startDaemon(): Promise<ChildProcess> {
  for (const folder of ['/var/run/zfs', '/run/lock', '/etc/zfs']) mkdirSync(folder, { recursive: true });
  const daemon = spawn('zfs-fuse', ['--no-daemon'], { stdio: 'ignore' });
  await eventually(() => {
    if (!isRunning()) throw new Error('zfs-fuse does not answer');
  });
  return daemon;
}

async function endDaemon(daemon: ChildProcess): Promise<void> {
  const ended = once(daemon, 'exit');
  daemon.kill('SIGTERM');
  await ended;
}

/** A name that no pool ever had here: zfs-fuse may remember busy ones. */
function createPool(scratch: string, role: string): ZfsPool {
  const name = `rdpipe-${role}-${process.pid}-${Date.now()}`;
  const disk = join(scratch, `${role}.img`);
  const folder = join(scratch, role);
  writeFileSync(disk, '');
  truncateSync(disk, POOL_BYTES);
  execFileSync('zpool', ['create', '-o', 'cachefile=none', '-m', folder, name, disk], { stdio: 'ignore' });
  return { name, folder };
}

/** Refused while a send that was cut off still reads. */
function destroyPool(pool: ZfsPool): void {
  execFileSync('zpool', ['destroy', '-f', pool.name], { stdio: 'ignore' });
}
