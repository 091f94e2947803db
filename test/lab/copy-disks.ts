// SPDX-License-Identifier: Apache-2.0
// Disks of virtual hosts that keep whatever a copy keeps, trees to copy, and rsync as the judge of what arrived.
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { execaSync } from 'execa';
import { DRY_RUN } from '../support/judge.ts';
import { ROOT } from '../support/root.ts';
import { succeeded } from '../support/shell.ts';
import { makeTree } from '../support/tree-fixtures.ts';
import type { HostName, VirtualLab } from './use-virtual-hosts.ts';

/** Where each host has its disk. */
export const DISK = '/tmp/copies';
/** The program on a host, which sees the checkout. RDMA has a quarter of that time, and the hosts may be slow. */
export const RDCP = `${ROOT}/bin/rdcp --connect-timeout 60`;

const HOSTS: readonly HostName[] = ['h1', 'h2', 'h3'];
const IMAGE = '/tmp/copies.ext4';
/** Blocks of 4 KiB have room for the longest symbolic link and large attributes; memory holds the image. */
const MAKE = [
  `mkdir ${DISK}`,
  `truncate -s 300M ${IMAGE}`,
  `mkfs.ext4 -q -b 4096 -O ^has_journal ${IMAGE}`,
  `mount -o loop ${IMAGE} ${DISK}`,
  `rmdir ${DISK}/lost+found`,
].join(' && ');
const REMOVE = `umount ${DISK} && rmdir ${DISK} && rm ${IMAGE}`;
/** For blocks that differ from file system to file system. */
const SLACK_KIB = 64;

/** For the tests of a describe(). */
export function useCopyDisks(lab: VirtualLab): void {
  before(async () => {
    await Promise.all(HOSTS.map((host) => lab.on(host, MAKE)));
  });
  after(() => Promise.all(HOSTS.map((host) => lab.restore(host, REMOVE))));
}

/** On this machine, without the hole that takes an emulated host long to read. */
export function makeLabTree(directory: string): void {
  makeTree(directory);
  rmSync(join(directory, 'holes/large'));
}

/** The same without what a server keeps from its directory: owners, rights, devices, root's attributes. */
export function makeServedTree(directory: string): void {
  makeLabTree(directory);
  for (const name of ['devices', 'modes', 'owners']) rmSync(join(directory, name), { recursive: true });
  execaSync('setfattr', ['-x', 'trusted.one', join(directory, 'attributes/file')]);
}

/** Fails with the differences between a tree of this machine and one of a host. */
export async function expectCopyOn(lab: VirtualLab, tree: string, host: HostName, path: string): Promise<void> {
  succeeded(await lab.sh(`rsync -aHAXS ${DRY_RUN.join(' ')} --rsh=on '${tree}/' '${host}:${path}/'`), '');
  const here = execaSync('du', ['-sk', join(tree, 'holes')]).stdout;
  const there = await lab.on(host, `du -sk '${path}/holes'`);
  expect(Number.parseInt(there, 10)).to.be.at.most(Number.parseInt(here, 10) + SLACK_KIB);
}
