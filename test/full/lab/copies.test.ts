// SPDX-License-Identifier: Apache-2.0
// Copies of trees over RDMA: their plan, and from host to host, sealed. rdma-copies has more tests.
import { join } from 'node:path';
import { expect } from 'chai';
import { protectionOf } from '../../../packages/rdpipe/src/model/cipher.ts';
import { DISK, expectCopyOn, makeLabTree, RDCP, useCopyDisks } from '../../lab/copy-disks.ts';
import { succeededOver } from '../../lab/report.ts';
import { useVirtualHosts } from '../../lab/use-virtual-hosts.ts';
import { succeeded } from '../../support/shell.ts';

/** scan, compare, read and write are connected by three hops. */
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

  it('is planned over RDMA by default', async () => {
    const { status, stderr, text } = await lab.sh(`rdcp -n -v -aAX h1:${DISK}/source/ h2:${DISK}/planned/`);
    expect({ status, stderr }).to.deep.include({ status: 0 });
    expect(stderr, stderr).to.match(/^h1→h2 +rdma rxe0 authenticated +delivered /m);
    expect(text).to.match(/^new +[\d.]+ [KM]iB +contents\/large( |$)/m);
    await lab.on('h2', `test ! -e ${DISK}/planned`);
  });

  it('keeps everything to another host, encrypted', async () => {
    const words = `--json --transport rdma --encrypt always -aAX ${DISK}/source/ h3:${DISK}/pushed/`;
    const { hops } = succeededOver(await lab.sh(`on h1 ${RDCP} ${words}`), '', ALL_RDMA);
    expect(hops.map(({ cipher }) => protectionOf(cipher))).to.deep.equal(['seal', 'seal', 'seal']);
    await expectCopyOn(lab, tree(), 'h3', `${DISK}/pushed`);
  });
});
