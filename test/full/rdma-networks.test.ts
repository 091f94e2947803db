// SPDX-License-Identifier: Apache-2.0
// Further tests of two hosts with a second RDMA network.
import { expect } from 'chai';
import { succeededOver } from '../lab/report.ts';
import { useSecondNetwork } from '../lab/second-network.ts';
import { useVirtualHosts } from '../lab/use-virtual-hosts.ts';
import { failed } from '../support/shell.ts';

const PIPELINE = "h1:'echo hi' h2:rev";

describe('hosts with two RDMA networks', () => {
  const lab = useVirtualHosts();
  useSecondNetwork(lab);

  it('are shown with both in the plan, and with the path between them', async () => {
    const { text } = await lab.sh(`rdpipe -n ${PIPELINE}`);
    expect(text).to.contain(
      [
        '  h1 dials 10.77.0.2 from 10.77.0.1 (rdma rxe0, RoCE v2, 2.5 Gb/s)',
        '  otherwise h1 dials 10.78.0.2 from 10.78.0.1 (rdma rxe1, RoCE v2, 2.5 Gb/s)',
        '  otherwise h1 dials 10.78.0.2 from 10.77.0.1 (rdma rxe0→rxe1, RoCE v2, 2.5 Gb/s, routed)',
      ].join('\n'),
    );
  });

  describe('if one has left the first network, and the second leads nowhere', () => {
    before(async () => {
      await lab.on('h2', 'rdma link delete rxe0');
      await lab.on('h1', 'ip neigh replace 10.78.0.2 lladdr 02:00:00:00:00:99 dev eth1');
    });
    after(async () => {
      await lab.on('h1', 'ip neigh del 10.78.0.2 dev eth1');
      await lab.on('h2', 'rdma link add rxe0 type rxe netdev eth0');
    });

    it('are not joined with --transport rdma', async () =>
      failed(
        await lab.sh(`rdpipe --connect-timeout 20 --transport rdma h1:'echo hi' h2:'cat > /dev/null' > /dev/null`),
        125,
        /cannot connect h1 to h2: .*10\.78\.0\.2:.*rdpipe doctor h1 h2/,
      ));
  });

  describe('in two subnets with a route between them', () => {
    before(async () => {
      await lab.on('h2', 'ip address del 10.78.0.2/24 dev eth1; ip address add 10.79.0.2/24 dev eth1');
      await lab.on('h2', 'ip route add 10.78.0.0/24 dev eth1');
      await lab.on('h1', 'ip route add 10.79.0.0/24 dev eth1');
    });
    after(async () => {
      await lab.on('h1', 'ip route del 10.79.0.0/24 dev eth1');
      await lab.on('h2', 'ip address del 10.79.0.2/24 dev eth1; ip address add 10.78.0.2/24 dev eth1');
    });

    it('are joined over the route', async () => {
      const data = '--data h1=10.78.0.1 --data h2=10.79.0.2';
      const { hops } = succeededOver(await lab.sh(`rdpipe --connect-timeout 60 --json ${data} ${PIPELINE}`), 'ih\n', [
        'rdma',
        'tcp',
      ]);
      expect(hops[0]?.why).to.match(/^rdma rxe1 \(RoCE v2, 2\.5 Gb\/s, routed\)/);
    });
  });
});
