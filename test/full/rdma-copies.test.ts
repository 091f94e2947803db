// SPDX-License-Identifier: Apache-2.0
// Long copies over RDMA: changes between two copies, each encryption, lost packets,
// cables that are cut.
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import { DISK, expectCopyOn, makeLabTree, RDCP, useCopyDisks } from '../lab/copy-disks.ts';
import { succeededOver } from '../lab/report.ts';
import { useVirtualHosts } from '../lab/use-virtual-hosts.ts';
import { eventually } from '../support/eventually.ts';
import { succeeded } from '../support/shell.ts';
import { changeTree } from '../support/tree-fixtures.ts';

/** scan, compare, read and write are connected by three hops. */
const ALL_RDMA = ['rdma', 'rdma', 'rdma'];
const LONGEST_MS = 240_000;
/** An interrupted file resumes at a complete block. */
const BLOCK_BYTES = 8 * 1024 * 1024;
const TIME_TO_MEND = '--stall-timeout 60 --lease 90';
/** Long enough for attempts to connect that fail. */
const CUT_MS = 2000;
/** Limits of a run with a host that does not answer. */
const LIMITS = '--stall-timeout 8 --lease 20';

describe('a long copy over RDMA', () => {
  const lab = useVirtualHosts({ longestMs: LONGEST_MS });
  useCopyDisks(lab);
  const tree = () => join(lab.homes, 'tree');
  const bringTree = async () => succeeded(await lab.sh(`rdcp --delete -aAX ~/tree/ h1:${DISK}/source/`), '');

  before(async () => {
    makeLabTree(tree());
    lab.beginTest();
    await bringTree();
  });
  afterEach(() => lab.on('h2', `rm -rf ${DISK}/target`));

  for (const encrypt of ['always', 'auth', 'never'])
    it(`keeps everything, --encrypt ${encrypt}`, async () => {
      const words = `--json --transport rdma --encrypt ${encrypt} --verify`;
      succeededOver(await lab.sh(`rdcp ${words} -aAX h1:${DISK}/source/ h2:${DISK}/target/`), '', ALL_RDMA);
      await expectCopyOn(lab, tree(), 'h2', `${DISK}/target`);
    });

  it('keeps everything over a network that loses packets', async () => {
    await lab.on('h1', 'tc qdisc add dev eth0 root netem loss 0.2%');
    try {
      succeededOver(await lab.sh(`rdcp --json -aAX h1:${DISK}/source/ h2:${DISK}/target/`), '', ALL_RDMA);
    } finally {
      await lab.on('h1', 'tc qdisc delete dev eth0 root');
    }
    await expectCopyOn(lab, tree(), 'h2', `${DISK}/target`);
  });

  it('copies changes, and removes what is gone', async () => {
    const copy = () => lab.sh(`rdcp --json --delete -aAX h1:${DISK}/source/ h2:${DISK}/target/`);
    succeededOver(await copy(), '', ALL_RDMA);
    changeTree(tree());
    await bringTree();
    const { copy: again } = succeededOver(await copy(), '', ALL_RDMA);
    expect(again?.removed).to.be.above(0);
    expect(again?.same).to.be.above(0);
    await expectCopyOn(lab, tree(), 'h2', `${DISK}/target`);
  });

  it('keeps everything from another host', async () => {
    const words = `--json --transport rdma -aAX h1:${DISK}/source/ ${DISK}/pulled/`;
    succeededOver(await lab.sh(`on h3 ${RDCP} ${words}`), '', ALL_RDMA);
    await expectCopyOn(lab, tree(), 'h3', `${DISK}/pulled`);
  });

  it('continues after its cable was cut, and loses nothing', async () => {
    await lab.on('h1', `head -c 20M /dev/urandom > ${DISK}/large`);
    const words = `--json --transport rdma --limit 2M ${TIME_TO_MEND}`;
    const running = lab.start(`exec rdcp ${words} h1:${DISK}/large h2:${DISK}/mended`);
    try {
      await eventually(() => lab.on('h2', `find ${DISK} -name '.rdcp-*' -size +2M | grep .`));
      lab.setCable('h2', 'down');
      await eventually(() => lab.on('h1', "! rdma resource show qp | grep 'RTS.*rdsend'"));
      await delay(CUT_MS);
    } finally {
      lab.setCable('h2', 'up');
    }
    const { hops } = succeededOver(await running.result, '', ALL_RDMA);
    expect(hops[2]?.reconnects).to.be.above(0);
    expect(await lab.on('h2', `sha256sum < ${DISK}/mended`)).to.equal(await lab.on('h1', `sha256sum < ${DISK}/large`));
  });

  it('fails when its cable stays cut, and resumes from there when it is run again', async () => {
    await lab.on('h1', `head -c 24M /dev/urandom > ${DISK}/large`);
    const copy = (words: string) => `rdcp ${words} --transport rdma h1:${DISK}/large h2:${DISK}/target`;
    const running = lab.start(`exec ${copy(`${LIMITS} --limit 2M`)}`);
    try {
      await eventually(() => lab.on('h2', `find ${DISK} -name '.rdcp-*' -size +10M | grep .`));
      lab.setCable('h2', 'down');
      const { status, stderr } = await running.result;
      expect(status, stderr).to.equal(125);
      expect(stderr).to.match(/^rdcp: .*h2/);
    } finally {
      lab.setCable('h2', 'up');
    }
    await lab.expectNothingLeft();
    await lab.on('h2', `test ! -e ${DISK}/target`);
    const report = succeededOver(await lab.sh(copy('--json')), '', ALL_RDMA);
    expect(report.copy?.resumedBytes).to.be.at.least(BLOCK_BYTES);
    expect(await lab.on('h2', `sha256sum < ${DISK}/target`)).to.equal(await lab.on('h1', `sha256sum < ${DISK}/large`));
    expect(await lab.on('h2', `find ${DISK} -name '.rdcp-*'`)).to.equal('');
  });
});
