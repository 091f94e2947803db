// SPDX-License-Identifier: Apache-2.0
// Creates two ZFS pools on files with zfs-fuse; uses a running daemon and does not stop it.
import { mkdirSync, mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execaSync } from 'execa';
import { eventually } from './eventually.ts';
import { type Started, startProgram } from './start-program.ts';

export interface ZfsPool {
  readonly name: string;
  /** The mount point of its datasets. */
  readonly directory: string;
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
      daemon?.child.kill('SIGTERM');
      await daemon?.ended;
      rmSync(scratch, { recursive: true });
    },
  };
}

function isRunning(): boolean {
  return !execaSync('zpool', ['list'], { stdio: 'ignore', reject: false }).failed;
}

async function startDaemon(): Promise<Started> {
  for (const directory of ['/var/run/zfs', '/run/lock', '/etc/zfs']) mkdirSync(directory, { recursive: true });
  const daemon = startProgram(['zfs-fuse', '--no-daemon'], { stdio: 'ignore' });
  await eventually(() => {
    if (!isRunning()) throw new Error('zfs-fuse does not answer');
  });
  return daemon;
}

/** Uses a pool name that is unique on this machine: zfs-fuse may remember busy pools. */
function createPool(scratch: string, role: string): ZfsPool {
  const name = `rdpipe-${role}-${process.pid}-${Date.now()}`;
  const disk = join(scratch, `${role}.img`);
  const directory = join(scratch, role);
  writeFileSync(disk, '');
  truncateSync(disk, POOL_BYTES);
  execaSync('zpool', ['create', '-o', 'cachefile=none', '-m', directory, name, disk]);
  return { name, directory };
}

/** Throws while a `zfs send` that was cut off still reads. */
function destroyPool(pool: ZfsPool): void {
  execaSync('zpool', ['destroy', '-f', pool.name]);
}
