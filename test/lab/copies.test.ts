// SPDX-License-Identifier: Apache-2.0
// Copies a tree over RDMA from host to host. test/full has more copies.
import { join } from 'node:path';
import { expect } from 'chai';
import { succeeded } from '../support/shell.ts';
import { DISK, expectCopyOn, makeLabTree, useCopyDisks } from './copy-disks.ts';
import { succeededOver } from './report.ts';
import { useVirtualHosts } from './use-virtual-hosts.ts';

/** scan, compare, read and write have three hops. */
const ALL_RDMA = ['rdma', 'rdma', 'rdma'];

describe('a copy over RDMA', () => {
  const lab = useVirtualHosts();
  useCopyDisks(lab);
  const tree = () => join(lab.homes, 'tree');

  before(async () => {
    makeLabTree(tree());
    lab.beginTest();
    succeeded(await lab.sh(`rdcp -aAX ~/tree/ h1:${DISK}/source/`), '');
  });

  it('keeps everything from host to host, and copies nothing twice', async () => {
    const before = await lab.packets('h2');
    const copy = () => lab.sh(`rdcp --json -aAX --delete h1:${DISK}/source/ h2:${DISK}/target/`);
    const { hops } = succeededOver(await copy(), '', ALL_RDMA);
    expect(hops.map(({ from, to }) => `${from} ${to}`)).to.deep.equal(['h1 h2', 'h2 h1', 'h1 h2']);
    expect((await lab.packets('h2')).received).to.be.above(before.received);
    await expectCopyOn(lab, tree(), 'h2', `${DISK}/target`);
    const { copy: again } = succeededOver(await copy(), '', ALL_RDMA);
    expect(again).to.include({ files: 0, sentBytes: 0, same: again?.found, removed: 0, failed: 0 });
  });
});
