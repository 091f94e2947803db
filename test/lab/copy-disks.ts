// SPDX-License-Identifier: Apache-2.0
// Disks of virtual hosts that support everything that a copy preserves, trees to copy,
// and a comparison with rsync.
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { execaSync } from 'execa';
import { DRY_RUN } from '../support/judge.ts';
import { ROOT } from '../support/root.ts';
import { succeeded } from '../support/shell.ts';
import { makeTree } from '../support/tree-fixtures.ts';
import type { HostName, VirtualLab } from './use-virtual-hosts.ts';

/** The mount point of each host's disk. */
export const DISK = '/tmp/copies';
/** rdcp of the checkout, which hosts can see. RDMA gets a quarter of this timeout, and the hosts may be slow. */
export const RDCP = `${ROOT}/bin/rdcp --connect-timeout 60`;

const HOSTS: readonly HostName[] = ['h1', 'h2', 'h3'];
const IMAGE = '/tmp/copies.ext4';
/** Blocks of 4 KiB can store the longest symbolic link and large attributes; the image is in memory. */
const MAKE = [
  `mkdir ${DISK}`,
  `truncate -s 300M ${IMAGE}`,
  `mkfs.ext4 -q -b 4096 -O ^has_journal ${IMAGE}`,
  `mount -o loop ${IMAGE} ${DISK}`,
  `rmdir ${DISK}/lost+found`,
].join(' && ');
const REMOVE = `umount ${DISK} && rmdir ${DISK} && rm ${IMAGE}`;
/** Allowance for blocks that differ between file systems. */
const SLACK_KIB = 64;

/** Creates the disks for the tests of the enclosing describe(). */
export function useCopyDisks(lab: VirtualLab): void {
  before(async () => {
    await Promise.all(HOSTS.map((host) => lab.on(host, MAKE)));
  });
  after(() => Promise.all(HOSTS.map((host) => lab.restore(host, REMOVE))));
}

/** Creates a tree on this machine, without the large hole, which an emulated host reads slowly. */
export function makeLabTree(directory: string): void {
  makeTree(directory);
  rmSync(join(directory, 'holes/large'));
}

/** As makeLabTree(), without owners, modes, devices and root's attributes, which a server does not accept. */
export function makeServedTree(directory: string): void {
  makeLabTree(directory);
  for (const name of ['devices', 'modes', 'owners']) rmSync(join(directory, name), { recursive: true });
  execaSync('setfattr', ['-x', 'trusted.one', join(directory, 'attributes/file')]);
}

/** Fails with the differences between a tree on this machine and one on a host. */
export async function expectCopyOn(lab: VirtualLab, tree: string, host: HostName, path: string): Promise<void> {
  succeeded(await lab.sh(`rsync -aHAXS ${DRY_RUN.join(' ')} --rsh=on '${tree}/' '${host}:${path}/'`), '');
  const here = execaSync('du', ['-sk', join(tree, 'holes')]).stdout;
  const there = await lab.on(host, `du -sk '${path}/holes'`);
  expect(Number.parseInt(there, 10)).to.be.at.most(Number.parseInt(here, 10) + SLACK_KIB);
}
