// SPDX-License-Identifier: Apache-2.0
// Two hosts with a second network, over their second interfaces:
// which network a hop uses, and what happens if one leads nowhere. rdma-networks has more tests.
import { expect } from 'chai';
import type { HopReport } from '../../../packages/rdpipe/src/model/report.ts';
import { succeededOver } from '../../lab/report.ts';
import { useSecondNetwork } from '../../lab/second-network.ts';
import { useVirtualHosts } from '../../lab/use-virtual-hosts.ts';
import { eventually } from '../../support/eventually.ts';
import { reportOf } from '../../support/report.ts';
import type { Running } from '../../support/shell.ts';

/** A stream until a test lets it end, at last 4 MiB. */
const SOURCE = 'until test -e /tmp/go; do head -c 1M /dev/zero; sleep 0.1; done; head -c 4M /dev/zero';
const DEVICES = ['rxe0', 'rxe1'] as const;
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

  describe('of which both are named', () => {
    afterEach(() => lab.on('h1', 'rm -f /tmp/go'));

    async function sent(): Promise<number[]> {
      const packets = await Promise.all(DEVICES.map((device) => lab.packets('h1', device)));
      return packets.map((each) => each.sent);
    }

    /** Waits for the end, and checks that every byte arrived. */
    async function isWhole(running: Running): Promise<HopReport> {
      const result = await running.result;
      const [hop] = reportOf(result).hops;
      succeededOver(result, `${hop?.bytes}\n`, ['rdma', 'tcp']);
      return hop as HopReport;
    }

    /** Starts a stream, and resolves when both devices of h1 have sent a part of it. */
    async function begin(): Promise<Running> {
      const before = await sent();
      const running = lab.start(`exec rdpipe --json --data h2=10.77.0.2,10.78.0.2 h1:'${SOURCE}' h2:'wc -c'`);
      await eventually(async () => {
        const more = (await sent()).map((count, index) => count - (before[index] ?? 0));
        expect(Math.min(...more)).to.be.greaterThan(200);
      });
      return running;
    }

    it('use both devices at the same time', async () => {
      const running = await begin();
      await lab.on('h1', 'touch /tmp/go');
      expect((await isWhole(running)).streams).to.equal(2);
    });

    for (const network of [0, 1])
      it(`continue if network ${network} loses every packet`, async () => {
        const running = await begin();
        const neighbour = `10.7${7 + network}.0.2`;
        await lab.on('h1', `ip neigh replace ${neighbour} lladdr 02:00:00:00:00:99 dev eth${network}; touch /tmp/go`);
        try {
          await isWhole(running);
          expect((await running.result).stderr).to.include('"kind":"hop_resumed"');
        } finally {
          await lab.on('h1', `ip neigh del ${neighbour} dev eth${network}`);
        }
      });
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
