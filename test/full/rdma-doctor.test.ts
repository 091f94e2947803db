// SPDX-License-Identifier: Apache-2.0
import { examine, expectFailure, wrong } from '../lab/examination.ts';
import { useVirtualHosts } from '../lab/use-virtual-hosts.ts';

describe('rdpipe doctor on virtual hosts, one with a smaller MTU and almost no lockable memory', () => {
  const lab = useVirtualHosts();
  before(() => setLimits(1500, 64 * 1024));
  after(() => setLimits(9000, 8192 * 1024));

  it('names both ends, how to make their MTU equal, and the line that raises the limit', async () => {
    const [memlock, mtu, path] = wrong(await examine(lab, '--transport rdma h1 ann2', 1));
    const line = /'ann - memlock unlimited' to \/etc\/security\/limits\.d\/rdma\.conf, then log in again/;
    expectFailure(memlock, 'memlock', /^64\.0 KiB of memory can be locked/, line);
    expectFailure(mtu, 'mtu', /^9000 on eth0 of h1, 1500 on eth0 of ann2$/, /ip link set dev eth0 mtu 9000 on ann2/);
    expectFailure(path, 'path mtu', /^4096 at rxe0 of h1, 1024 at rxe0 of ann2$/, /MTU/);
  });

  /** Sets the MTU of h2 and the lockable memory of users who log in to h2 from now on. */
  function setLimits(mtu: number, memlockBytes: number): Promise<string> {
    return lab.on('h2', `ip link set eth0 mtu ${mtu} && prlimit --pid $(cat /run/sshd.pid) --memlock=${memlockBytes}`);
  }
});
