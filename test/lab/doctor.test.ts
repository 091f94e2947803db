// SPDX-License-Identifier: Apache-2.0
// `rdpipe doctor` on hosts with RDMA: that all is well, and each thing that is not, with what mends it.
import { expect } from 'chai';
import type { Examination, Finding } from '../../packages/rdpipe/src/model/examination.ts';
import { useVirtualHosts } from './use-virtual-hosts.ts';

describe('rdpipe doctor on virtual hosts', () => {
  const lab = useVirtualHosts();

  it('says that all is well, and moves data over RDMA each way', async () => {
    const before = await lab.packets('h1');
    const examination = await examine('--transport rdma h1 h2', 0);
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

  describe('of which one has lost its device', () => {
    before(() => lab.on('h2', 'rdma link delete rxe0'));
    after(() => lab.on('h2', 'rdma link add rxe0 type rxe netdev eth0'));

    it('names the host and how to get one', async () => {
      const examination = await examine('--transport rdma h1 h2', 1);
      const [device, between] = wrong(examination);
      expect(examination.hosts[1]?.checks).to.include(device);
      expectFailure(device, 'rdma', /^no RDMA device$/, /rdma link add rxe0 type rxe netdev eth0/);
      expectFailure(between, 'rdma', /no RDMA device on h2/, /what each host lacks/);
    });
  });

  describe('of which one has a smaller MTU and lets users lock next to nothing', () => {
    before(() => setLimits(1500, 64 * 1024));
    after(() => setLimits(9000, 8192 * 1024));

    it('names both ends and how to make them alike, and the line that raises the limit', async () => {
      const [memlock, mtu, path] = wrong(await examine('--transport rdma h1 ann2', 1));
      const line = /'ann - memlock unlimited' into \/etc\/security\/limits\.d\/rdma\.conf, then log in anew/;
      expectFailure(memlock, 'memlock', /^64\.0 KiB may be locked/, line);
      expectFailure(mtu, 'mtu', /^9000 on eth0 of h1, 1500 on eth0 of ann2$/, /on ann2 ip link set dev eth0 mtu 9000/);
      expectFailure(path, 'path mtu', /^4096 at rxe0 of h1, 1024 at rxe0 of ann2$/, /MTU/);
    });

    /** The memory of users who come to h2 from now on. */
    function setLimits(mtu: number, memlockBytes: number): Promise<string> {
      return lab.on(
        'h2',
        `ip link set eth0 mtu ${mtu} && prlimit --pid $(cat /run/sshd.pid) --memlock=${memlockBytes}`,
      );
    }
  });

  async function examine(words: string, status: number): Promise<Examination> {
    const result = await lab.sh(`rdpipe doctor --json ${words}`);
    expect({ status: result.status, stderr: result.stderr }, result.text).to.deep.equal({ status, stderr: '' });
    return JSON.parse(result.text);
  }
});

function wrong({ hosts, pairs }: Examination): readonly Finding[] {
  return [...hosts, ...pairs].flatMap(({ checks }) => checks.filter(({ result }) => result !== 'ok'));
}

function expectFailure(finding: Finding | undefined, check: string, found: RegExp, fix: RegExp): void {
  expect(finding).to.include({ check, result: 'fail' });
  expect(finding?.found).to.match(found);
  expect(finding?.fix).to.match(fix);
}
