// SPDX-License-Identifier: Apache-2.0
// A chain of hosts over RDMA that loses one:
// its neighbors are joined over RDMA, and the others get the complete stream.
import { expect } from 'chai';
import { succeededOver } from '../lab/report.ts';
import { type HostName, useVirtualHosts, type VirtualLab } from '../lab/use-virtual-hosts.ts';
import { eventually } from '../support/eventually.ts';
import type { Running } from '../support/shell.ts';

const BYTES = 24 * 1024 * 1024;
/** The payload of an RDMA packet in this network. */
const PACKET_BYTES = 4096;
/** A slow host must not count as silent. */
const OPTIONS = '--transport rdma --connect-timeout 60 --require any';
/** Slow enough that a host can be lost before the end. */
const SLOWLY = '--limit 2MB/s';
const TARGET = '/tmp/out/target';

describe('a chain of hosts over RDMA', () => {
  const lab = useVirtualHosts();
  let source = '';

  before(async () => {
    source = await lab.on('h1', `head -c ${BYTES} /dev/urandom | tee /tmp/source | sha256sum; chmod 644 /tmp/source`);
    for (const host of ['h2', 'h3'] as const) await lab.on(host, 'mkdir -m 777 /tmp/out');
  });
  after(async () => {
    await lab.restore('h1', 'rm -f /tmp/source');
    for (const host of ['h2', 'h3'] as const) await lab.restore(host, 'rm -r /tmp/out');
  });
  afterEach(async () => {
    for (const host of ['h2', 'h3'] as const) await lab.restore(host, `rm -f ${TARGET}`);
  });

  for (const [what, programs] of [
    ['all', 'rdstage|rdrecv|rdsend'],
    ['rdrecv', 'rdrecv'],
    ['rdsend', 'rdsend'],
  ]) {
    it(`continues from h1 to h3 when ${what} of h2 is killed`, async () => {
      const before = await lab.packets('h1');
      const running = lab.start(`exec rdpipe ${OPTIONS} ${SLOWLY} h1:'< /tmp/source' 'h2,h3:> ${TARGET}'`);
      await hasBegun(lab, 'h3');
      await lab.on('h2', `kill -KILL $(pgrep -x '${programs}')`);
      await goesOnWithout(running, 'h2');
      const { sent } = await lab.packets('h1');
      expect(sent - before.sent).to.be.at.least(BYTES / PACKET_BYTES);
    });
  }

  it('ends at h2 when h3 is lost', async () => {
    const running = lab.start(`exec rdpipe ${OPTIONS} ${SLOWLY} h1:'< /tmp/source' 'h2,h3:> ${TARGET}'`);
    await hasBegun(lab, 'h3');
    await lab.on('h3', "kill -KILL $(pgrep -x 'rdstage|rdrecv')");
    await goesOnWithout(running, 'h3');
  });

  it('continues without a host whose disk is full', async () => {
    await lab.on('h2', 'mount -t tmpfs -o size=4m tmpfs /tmp/out');
    try {
      await goesOnWithout(lab.start(`exec rdpipe ${OPTIONS} h1:'< /tmp/source' 'h2,h3:> ${TARGET}'`), 'h2');
    } finally {
      await lab.on('h2', 'umount /tmp/out');
    }
  });

  it('reaches users who may lock less memory than the ring that a host shares', async () => {
    // 8 MiB may be locked, but the ring has 17 MiB.
    const stages = `ann1:'< /tmp/source' 'ann2,ann3:> ${TARGET}'`;
    const result = await lab.sh(`rdpipe --json --transport rdma --connect-timeout 60 ${stages}`);
    const { hops } = succeededOver(result, '', ['rdma', 'rdma']);
    expect(hops[1]?.warnings.join()).to.match(/ann2: buffer .*memlock/);
    for (const host of ['h2', 'h3'] as const) await expectTarget(host);
  });

  async function goesOnWithout(running: Running, lost: HostName): Promise<void> {
    const { status, stderr } = await running.result;
    expect(status, stderr).to.equal(0);
    expect(stderr).to.contain(`lost ${lost}`);
    await expectTarget(lost === 'h2' ? 'h3' : 'h2');
    expect(await lab.on(lost, 'ls -A /tmp/out')).to.equal('');
  }

  async function expectTarget(host: HostName): Promise<void> {
    expect(await lab.on(host, `sha256sum < ${TARGET}`), host).to.equal(source);
  }
});

/** Waits until the host has written part of the stream to its file, which has no name yet. */
async function hasBegun(lab: VirtualLab, host: HostName): Promise<void> {
  const written = "sed -n 's/^wchar: //p' /dev/null $(pgrep -x rdrecv | sed 's|.*|/proc/&/io|')";
  await eventually(async () => expect(Number(await lab.on(host, written))).to.be.above(100_000));
}
