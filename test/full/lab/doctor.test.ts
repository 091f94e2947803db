// SPDX-License-Identifier: Apache-2.0
// `rdpipe doctor` on hosts with RDMA: a report without problems, and each problem with its fix.
// rdma-doctor has more tests.
import { expect } from 'chai';
import { examine, expectFailure, wrong } from '../../lab/examination.ts';
import { useVirtualHosts } from '../../lab/use-virtual-hosts.ts';

describe('rdpipe doctor on virtual hosts', () => {
  const lab = useVirtualHosts();

  it('reports no problems, and moves data over RDMA in both directions', async () => {
    const before = await lab.packets('h1');
    const examination = await examine(lab, '--transport rdma h1 h2', 0);
    const after = await lab.packets('h1');
    expect(wrong(examination)).to.deep.equal([]);
    const measured = examination.pairs[0]?.measured ?? [];
    const ways = measured.map(({ transport, from, to }) => `${transport} ${from} ${to}`);
    expect(ways).to.deep.equal(['rdma h1 h2', 'rdma h2 h1']);
    for (const { bytesPerSecond, rttUs, nominalMbps } of measured) {
      expect(Math.min(bytesPerSecond, rttUs ?? 0, nominalMbps ?? 0)).to.be.greaterThan(0);
    }
    expect(Math.min(after.sent - before.sent, after.received - before.received)).to.be.greaterThan(1000);
  });

  describe('if one has lost its device', () => {
    before(() => lab.on('h2', 'rdma link delete rxe0'));
    after(() => lab.restore('h2', 'rdma link add rxe0 type rxe netdev eth0'));

    it('names the host and how to get one', async () => {
      const examination = await examine(lab, '--transport rdma h1 h2', 1);
      const [device, between] = wrong(examination);
      expect(examination.hosts[1]?.checks).to.include(device);
      expectFailure(device, 'rdma', /^no RDMA device$/, /rdma link add rxe0 type rxe netdev eth0/);
      expectFailure(between, 'rdma', /no RDMA device on h2/, /what each host lacks/);
    });
  });
});
