// SPDX-License-Identifier: Apache-2.0
// --limit over RDMA. rdma-limit tests how nearly the rate reaches the limit.
import { expect } from 'chai';
import { succeededOver } from '../../lab/report.ts';
import { useVirtualHosts } from '../../lab/use-virtual-hosts.ts';

const MIB = 1024 * 1024;

describe('a limit over RDMA', () => {
  const lab = useVirtualHosts();

  it('is never exceeded', async () => {
    const words = `--connect-timeout 60 --limit 1MiB h1:'head -c ${2 * MIB} /dev/zero' h2:'> /dev/null'`;
    const { hops } = succeededOver(await lab.sh(`rdpipe --transport rdma --json ${words} < /dev/null`), '', ['rdma']);
    expect(hops[0]).to.include({ bytes: 2 * MIB, bottleneck: 'limit' });
    expect(hops[0]?.bytesPerSecond).to.be.at.most(MIB);
  });
});
