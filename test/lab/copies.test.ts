// SPDX-License-Identifier: Apache-2.0
// Copies of trees over RDMA: from host to host, to another host and from one, and over a cable that is cut.
// More of them is in test/full.
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import { protectionOf } from '../../packages/rdpipe/src/model/cipher.ts';
import { eventually } from '../support/eventually.ts';
import { succeeded } from '../support/shell.ts';
import { DISK, expectCopyOn, makeLabTree, RDCP, useCopyDisks } from './copy-disks.ts';
import { succeededOver } from './report.ts';
import { useVirtualHosts } from './use-virtual-hosts.ts';

/** scan, compare, read and write have three hops. */
const ALL_RDMA = ['rdma', 'rdma', 'rdma'];
const LONGEST_MS = 120_000;
/** For a program in node on an emulated host, where others use the machine. */
const PATIENCE_MS = 60_000;
const TIME_TO_MEND = '--stall-timeout 20 --lease 30';
/** For attempts to connect that fail. */
const CUT_MS = 2000;

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

  it('keeps everything from another host', async () => {
    const words = `--json --transport rdma -aAX h1:${DISK}/source/ ${DISK}/pulled/`;
    succeededOver(await lab.sh(`on h3 ${RDCP} ${words}`), '', ALL_RDMA);
    await expectCopyOn(lab, tree(), 'h3', `${DISK}/pulled`);
  });

  it('goes on after its cable was cut, and loses nothing', async () => {
    await lab.on('h1', `head -c 20M /dev/urandom > ${DISK}/large`);
    const words = `--json --transport rdma --limit 2M ${TIME_TO_MEND}`;
    const running = lab.start(`exec rdcp ${words} h1:${DISK}/large h2:${DISK}/mended`);
    try {
      await eventually(() => lab.on('h2', `find ${DISK} -name '.rdcp-*' -size +2M | grep .`), PATIENCE_MS);
      lab.setCable('h2', 'down');
      await eventually(() => lab.on('h1', "! rdma resource show qp | grep 'RTS.*rdsend'"), PATIENCE_MS);
      await delay(CUT_MS);
    } finally {
      lab.setCable('h2', 'up');
    }
    const { hops } = succeededOver(await running.result, '', ALL_RDMA);
    expect(hops[2]?.reconnects).to.be.above(0);
    expect(await lab.on('h2', `sha256sum < ${DISK}/mended`)).to.equal(await lab.on('h1', `sha256sum < ${DISK}/large`));
  });
});
