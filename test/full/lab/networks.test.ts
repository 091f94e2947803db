// SPDX-License-Identifier: Apache-2.0
// Two hosts with a second network, over their second interfaces:
// which network a hop uses, and what happens if one leads nowhere. rdma-networks has more tests.
import { expect } from 'chai';
import { succeededOver } from '../../lab/report.ts';
import { useSecondNetwork } from '../../lab/second-network.ts';
import { useVirtualHosts } from '../../lab/use-virtual-hosts.ts';

const PIPELINE = "h1:'echo hi' h2:rev";

describe('hosts with two RDMA networks', () => {
  const lab = useVirtualHosts();
  useSecondNetwork(lab);

  it('are joined over the network that ssh uses, of two equally fast ones', async () => {
    const { hops } = succeededOver(await lab.sh(`rdpipe --json ${PIPELINE}`), 'ih\n', ['rdma', 'tcp']);
    expect(hops[0]?.devices).to.deep.equal(['rxe0', 'rxe0']);
    expect(hops[0]?.notes).to.deep.equal([]);
  });

  it('are joined over the network that is named', async () => {
    const result = await lab.sh(`rdpipe --json --data h2=10.78.0.2 ${PIPELINE}`);
    const { hops } = succeededOver(result, 'ih\n', ['rdma', 'tcp']);
    expect(hops[0]?.devices).to.deep.equal(['rxe1', 'rxe1']);
    expect(hops[0]?.local).to.match(/^10\.78\.0\.1:/);
    expect(hops[0]?.peer).to.match(/^10\.78\.0\.2:/);
  });

  describe('if one has left the first network', () => {
    before(() => lab.on('h2', 'rdma link delete rxe0'));
    after(() => lab.restore('h2', 'rdma link add rxe0 type rxe netdev eth0'));

    it('are joined over the second', async () => {
      const { hops } = succeededOver(await lab.sh(`rdpipe --json ${PIPELINE}`), 'ih\n', ['rdma', 'tcp']);
      expect(hops[0]?.devices).to.deep.equal(['rxe1', 'rxe1']);
    });

    describe('and the second leads nowhere', () => {
      before(() => lab.on('h1', 'ip neigh replace 10.78.0.2 lladdr 02:00:00:00:00:99 dev eth1'));
      after(() => lab.restore('h1', 'ip neigh del 10.78.0.2 dev eth1'));

      it('are joined over TCP, and the report explains it', async () => {
        const { hops } = succeededOver(await lab.sh(`rdpipe --json --connect-timeout 20 ${PIPELINE}`), 'ih\n', [
          'tcp',
          'tcp',
        ]);
        expect(hops[0]?.notes[0]).to.match(/10\.78\.0\.2:.*\(rdma rxe1, RoCE v2, 2\.5 Gb\/s/);
        expect(hops[0]?.notes.at(-1)).to.match(/^connected by 10\.77\.0\.2:\d+, ssh address$/);
      });
    });
  });
});
