// SPDX-License-Identifier: Apache-2.0
// Every byte arrives over RDMA, whatever its value and however many there are.
import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import { succeededOver } from './report.ts';
import { useVirtualHosts } from './use-virtual-hosts.ts';

const KIB = 1024;
const MIB = 1024 * KIB;
const SIZES = [0, 1, 64 * KIB - 1, 64 * KIB, 64 * KIB + 1, MIB - 1, MIB, MIB + 1];
/** What an RDMA packet carries in this network. */
const PACKET_BYTES = 4096;

describe('bytes over RDMA', () => {
  const lab = useVirtualHosts();

  for (const size of SIZES) {
    it(`pass, ${size} of them`, async () => {
      const bytes = randomBytes(size);
      await lab.write('in', bytes);
      succeededOver(await lab.sh('rdpipe --json h1:cat h2:cat < in > out'), '', ['tcp', 'rdma', 'tcp']);
      expect((await lab.read('out')).equals(bytes)).to.equal(true);
    });
  }

  describe('that are many', () => {
    before(() => lab.on('h1', `head -c ${64 * MIB} /dev/urandom > /tmp/source`));
    after(() => lab.on('h1', 'rm /tmp/source'));
    afterEach(async () => {
      for (const host of ['h2', 'h3'] as const) await lab.on(host, 'rm -f /tmp/target');
    });

    const copies: readonly (readonly [how: string, stages: string])[] = [
      ['from file to file', "h1:'< /tmp/source' h2:'> /tmp/target'"],
      ['through pipes', "h1:'cat /tmp/source' h2:'cat > /tmp/target' > /dev/null"],
      ['sealed', "--encrypt always h1:'< /tmp/source' h2:'> /tmp/target'"],
    ];
    for (const [how, stages] of copies) {
      it(`pass ${how}, in packets of the device`, async () => {
        const before = await lab.packets('h2');
        succeededOver(await lab.sh(`rdpipe --json --size ${64 * MIB} ${stages}`), '', ['rdma']);
        const { received } = await lab.packets('h2');
        expect(received - before.received).to.be.at.least((64 * MIB) / PACKET_BYTES);
        expect(await digest('h2', '/tmp/target')).to.equal(await digest('h1', '/tmp/source'));
      });
    }

    it('pass a chain of three', async () => {
      const result = await lab.sh("rdpipe --json h1:'< /tmp/source' h2:cat h3:'> /tmp/target'");
      succeededOver(result, '', ['rdma', 'rdma']);
      expect(await digest('h3', '/tmp/target')).to.equal(await digest('h1', '/tmp/source'));
    });
  });

  async function digest(host: 'h1' | 'h2' | 'h3', file: string): Promise<string> {
    return (await lab.on(host, `sha256sum < ${file}`)).trim();
  }
});
