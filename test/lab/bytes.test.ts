// SPDX-License-Identifier: Apache-2.0
// Many bytes arrive over RDMA, according to the device's counters. test/full has longer tests.
import { expect } from 'chai';
import { succeededOver } from './report.ts';
import { useVirtualHosts } from './use-virtual-hosts.ts';

const MANY = 16 * 1024 * 1024;
/** The payload of an RDMA packet in this network. */
const PACKET_BYTES = 4096;

describe('bytes over RDMA', () => {
  const lab = useVirtualHosts();
  before(() => lab.on('h1', `head -c ${MANY} /dev/urandom > /tmp/source`));
  after(async () => {
    await lab.restore('h1', 'rm -f /tmp/source');
    await lab.restore('h2', 'rm -f /tmp/target');
  });

  it('pass from file to file, in packets of the device', async () => {
    const before = await lab.packets('h2');
    const stages = "h1:'< /tmp/source' h2:'> /tmp/target'";
    succeededOver(await lab.sh(`rdpipe --json --size ${MANY} ${stages}`), '', ['rdma']);
    const { received } = await lab.packets('h2');
    expect(received - before.received).to.be.at.least(MANY / PACKET_BYTES);
    expect(await digest('h2', '/tmp/target')).to.equal(await digest('h1', '/tmp/source'));
  });

  async function digest(host: 'h1' | 'h2', file: string): Promise<string> {
    return (await lab.on(host, `sha256sum < ${file}`)).trim();
  }
});
