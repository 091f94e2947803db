// SPDX-License-Identifier: Apache-2.0
// Two hosts with a second network, over their second interfaces: which one a hop takes, and what becomes of one that leads
// nowhere.
import { expect } from 'chai';
import { failed } from '../support/shell.ts';
import { succeededOver } from './report.ts';
import { type HostName, useVirtualHosts } from './use-virtual-hosts.ts';

const HOSTS = ['h1', 'h2'] as const;
const PIPELINE = "h1:'echo hi' h2:rev";

describe('hosts with two RDMA networks', () => {
  const lab = useVirtualHosts();
  before(() => Promise.all(HOSTS.map(addNetwork)));
  after(() => Promise.all(HOSTS.map(removeNetwork)));

  it('are joined by the one that ssh uses, of two that are equally fast', async () => {
    const { hops } = succeededOver(await lab.sh(`rdpipe --json ${PIPELINE}`), 'ih\n', ['rdma', 'tcp']);
    expect(hops[0]?.devices).to.deep.equal(['rxe0', 'rxe0']);
    expect(hops[0]?.notes).to.deep.equal([]);
  });

  it('are shown with both in the plan, and with the way between them', async () => {
    const { text } = await lab.sh(`rdpipe -n ${PIPELINE}`);
    expect(text).to.contain(
      [
        '  h1 dials 10.77.0.2 from 10.77.0.1 (rdma rxe0, RoCE v2, 2.5 Gb/s)',
        '  else h1 dials 10.78.0.2 from 10.78.0.1 (rdma rxe1, RoCE v2, 2.5 Gb/s)',
        '  else h1 dials 10.78.0.2 from 10.77.0.1 (rdma rxe0→rxe1, RoCE v2, 2.5 Gb/s, routed)',
      ].join('\n'),
    );
  });

  it('are joined by the one that is named', async () => {
    const result = await lab.sh(`rdpipe --json --data h2=10.78.0.2 ${PIPELINE}`);
    const { hops } = succeededOver(result, 'ih\n', ['rdma', 'tcp']);
    expect(hops[0]?.devices).to.deep.equal(['rxe1', 'rxe1']);
    expect(hops[0]?.local).to.match(/^10\.78\.0\.1:/);
    expect(hops[0]?.peer).to.match(/^10\.78\.0\.2:/);
  });

  describe('the first of which one has left', () => {
    before(() => lab.on('h2', 'rdma link delete rxe0'));
    after(() => lab.on('h2', 'rdma link add rxe0 type rxe netdev eth0'));

    it('are joined by the second', async () => {
      const { hops } = succeededOver(await lab.sh(`rdpipe --json ${PIPELINE}`), 'ih\n', ['rdma', 'tcp']);
      expect(hops[0]?.devices).to.deep.equal(['rxe1', 'rxe1']);
    });

    describe('and the second of which leads nowhere', () => {
      before(() => lab.on('h1', 'ip neigh replace 10.78.0.2 lladdr 02:00:00:00:00:99 dev eth1'));
      after(() => lab.on('h1', 'ip neigh del 10.78.0.2 dev eth1'));

      it('are joined by TCP, and the report says why', async () => {
        const { hops } = succeededOver(await lab.sh(`rdpipe --json ${PIPELINE}`), 'ih\n', ['tcp', 'tcp']);
        expect(hops[0]?.notes[0]).to.match(/10\.78\.0\.2:.*\(rdma rxe1, RoCE v2, 2\.5 Gb\/s/);
        expect(hops[0]?.notes.at(-1)).to.match(/^connected by 10\.77\.0\.2:\d+, address of ssh$/);
      });

      it('are not joined with --transport rdma', async () =>
        failed(
          await lab.sh(`rdpipe --connect-timeout 5 --transport rdma h1:'echo hi' h2:'cat > /dev/null' > /dev/null`),
          125,
          /cannot connect h1 to h2: .*10\.78\.0\.2:.*rdpipe doctor h1 h2/,
        ));
    });
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

    it('are joined by the route', async () => {
      const data = '--data h1=10.78.0.1 --data h2=10.79.0.2';
      const { hops } = succeededOver(await lab.sh(`rdpipe --json ${data} ${PIPELINE}`), 'ih\n', ['rdma', 'tcp']);
      expect(hops[0]?.why).to.match(/^rdma rxe1 \(RoCE v2, 2\.5 Gb\/s, routed\)/);
    });
  });

  async function addNetwork(host: HostName): Promise<void> {
    const address = `10.78.0.${host.slice(1)}/24`;
    await lab.on(
      host,
      `ip link set eth1 up; ip address add ${address} dev eth1; rdma link add rxe1 type rxe netdev eth1`,
    );
  }

  async function removeNetwork(host: HostName): Promise<void> {
    await lab.on(host, 'rdma link delete rxe1; ip address flush dev eth1; ip link set eth1 down');
  }
});
