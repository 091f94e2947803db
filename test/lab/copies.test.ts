// SPDX-License-Identifier: Apache-2.0
// Copies of trees over RDMA: from host to host, and to another host. More of them is in test/full.
import { join } from 'node:path';
import { expect } from 'chai';
import { protectionOf } from '../../packages/rdpipe/src/model/cipher.ts';
import { succeeded } from '../support/shell.ts';
import { DISK, expectCopyOn, makeLabTree, RDCP, useCopyDisks } from './copy-disks.ts';
import { succeededOver } from './report.ts';
import { useVirtualHosts } from './use-virtual-hosts.ts';

/** scan, compare, read and write have three hops. */
const ALL_RDMA = ['rdma', 'rdma', 'rdma'];
const LONGEST_MS = 120_000;

describe('a copy over RDMA', () => {
  const lab = useVirtualHosts({ longestMs: LONGEST_MS });
  useCopyDisks(lab);
  const tree = () => join(lab.homes, 'tree');

  before(async function () {
    this.timeout(LONGEST_MS);
    makeLabTree(tree());
    lab.beginTest();
    succeeded(await lab.sh(`rdcp -aAX ~/tree/ h1:${DISK}/source/`), '');
  });

  it('is planned over RDMA by itself', async () => {
    const { status, stderr, text } = await lab.sh(`rdcp -n -v -aAX h1:${DISK}/source/ h2:${DISK}/planned/`);
    expect({ status, stderr }).to.deep.include({ status: 0 });
    expect(stderr, stderr).to.match(/^h1→h2 +rdma rxe0 authenticated +delivered /m);
    expect(text).to.match(/^new +[\d.]+ [KM]iB +contents\/large( |$)/m);
    await lab.on('h2', `test ! -e ${DISK}/planned`);
  });

  it('keeps everything from host to host, and copies nothing again', async () => {
    const before = await lab.packets('h2');
    const copy = () => lab.sh(`rdcp --json -aAX --delete h1:${DISK}/source/ h2:${DISK}/target/`);
    const { hops } = succeededOver(await copy(), '', ALL_RDMA);
    expect(hops.map(({ from, to }) => `${from} ${to}`)).to.deep.equal(['h1 h2', 'h2 h1', 'h1 h2']);
    expect((await lab.packets('h2')).received).to.be.above(before.received);
    await expectCopyOn(lab, tree(), 'h2', `${DISK}/target`);
    const { copy: again } = succeededOver(await copy(), '', ALL_RDMA);
    expect(again).to.include({ files: 0, sentBytes: 0, same: again?.found, removed: 0, failed: 0 });
  });

  it('keeps everything to another host, sealed', async () => {
    const words = `--json --transport rdma --encrypt always -aAX ${DISK}/source/ h3:${DISK}/pushed/`;
    const { hops } = succeededOver(await lab.sh(`on h1 ${RDCP} ${words}`), '', ALL_RDMA);
    expect(hops.map(({ cipher }) => protectionOf(cipher))).to.deep.equal(['seal', 'seal', 'seal']);
    await expectCopyOn(lab, tree(), 'h3', `${DISK}/pushed`);
  });
});
