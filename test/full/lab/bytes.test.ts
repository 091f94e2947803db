// SPDX-License-Identifier: Apache-2.0
// Every byte arrives over RDMA, for all values and many sizes; in a chain, and compressed.
import { expect } from 'chai';
import { passBytes } from '../../lab/pass-bytes.ts';
import { succeededOver } from '../../lab/report.ts';
import { useVirtualHosts } from '../../lab/use-virtual-hosts.ts';

const KIB = 1024;
const MIB = 1024 * KIB;
/** rdma-sizes tests more sizes. */
const SIZES = [0, MIB + 1];
/** rdma tests 256 MiB, also sealed. */
const MANY = 16 * MIB;
/** The payload of an RDMA packet in this network. */
const PACKET_BYTES = 4096;
const HOSTS = ['h1', 'h2', 'h3'] as const;

describe('bytes over RDMA', () => {
  const lab = useVirtualHosts();

  for (const size of SIZES) {
    it(`pass, ${size} of them`, () => passBytes(lab, size));
  }

  describe('that are many', () => {
    before(() => lab.on('h1', `head -c ${MANY} /dev/urandom > /tmp/source`));
    after(() => lab.restore('h1', 'rm /tmp/source'));
    afterEach(async () => {
      for (const host of ['h2', 'h3'] as const) await lab.on(host, 'rm -f /tmp/target');
    });

    it('pass compressed, or unchanged if they do not shrink', async () => {
      const stages = "h1:'seq 50000; head -c 4M /tmp/source' h2:'> /tmp/target'";
      succeededOver(await lab.sh(`rdpipe --json --compress zstd ${stages}`), '', ['rdma']);
      const sent = await lab.on('h1', '{ seq 50000; head -c 4M /tmp/source; } | sha256sum');
      expect(await digest('h2', '/tmp/target')).to.equal(sent.trim());
    });

    it('pass a chain of three', async () => {
      const result = await lab.sh("rdpipe --json h1:'< /tmp/source' h2:cat h3:'> /tmp/target'");
      succeededOver(result, '', ['rdma', 'rdma']);
      expect(await digest('h3', '/tmp/target')).to.equal(await digest('h1', '/tmp/source'));
    });

    it('pass each link once to reach two hosts', async () => {
      const before = await Promise.all(HOSTS.map((host) => lab.packets(host)));
      const stages = "h1:'< /tmp/source' 'h2,h3:> /tmp/target'";
      succeededOver(await lab.sh(`rdpipe --json --connect-timeout 60 ${stages}`), '', ['rdma', 'rdma']);
      const after = await Promise.all(HOSTS.map((host) => lab.packets(host)));
      const [h1, h2, h3] = after.map(({ sent, received }, index) => ({
        sent: sent - (before[index]?.sent ?? 0),
        received: received - (before[index]?.received ?? 0),
      }));
      // The remaining packets are acknowledgements of messages and of credits: fewer than a second copy would need.
      for (const packets of [h1?.sent, h2?.received, h2?.sent, h3?.received])
        expect(packets).to.be.within(MANY / PACKET_BYTES, (1.5 * MANY) / PACKET_BYTES);
      for (const host of ['h2', 'h3'] as const)
        expect(await digest(host, '/tmp/target')).to.equal(await digest('h1', '/tmp/source'));
    });
  });

  async function digest(host: 'h1' | 'h2' | 'h3', file: string): Promise<string> {
    return (await lab.on(host, `sha256sum < ${file}`)).trim();
  }
});
