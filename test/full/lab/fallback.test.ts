// SPDX-License-Identifier: Apache-2.0
// Hosts that cannot use RDMA: TCP carries the hop and the report gives the reason,
// unless the user requires RDMA. rdma-memlock tests hosts that can use RDMA only with less memory.
import { expect } from 'chai';
import { succeededOver } from '../../lab/report.ts';
import { useVirtualHosts } from '../../lab/use-virtual-hosts.ts';
import { failed } from '../../support/shell.ts';

describe('a host without an RDMA device', () => {
  const lab = useVirtualHosts();
  before(() => lab.on('h2', 'rdma link delete rxe0'));
  after(() => lab.restore('h2', 'rdma link add rxe0 type rxe netdev eth0'));

  it('is reached over TCP', async () => {
    succeededOver(await lab.sh("rdpipe --json h1:'echo hi' h2:rev"), 'ih\n', ['tcp', 'tcp']);
  });

  it('is reported in the plan', async () =>
    expect((await lab.sh('rdpipe -n h1:true h2:true')).text).to.match(/h2.*RDMA|RDMA.*h2/i));

  it('is refused with --transport rdma', async () =>
    failed(await lab.sh("rdpipe --transport rdma h1:'echo hi' h2:cat > /dev/null"), 125, /h2.*RDMA|RDMA.*h2/i));
});
