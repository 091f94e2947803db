// SPDX-License-Identifier: Apache-2.0
// The agent's report on a host with a real RDMA device and kernel.
import { dirname } from 'node:path';
import { expect } from 'chai';
import type { AgentHello } from '../../../packages/rdpipe/src/model/protocol.ts';
import { useVirtualHosts } from '../../lab/use-virtual-hosts.ts';
import { AGENT } from '../../support/agent-driver.ts';

const HELLO = `${AGENT} --agent --nonce lab </dev/null`;
const RXE0 = {
  device: 'rxe0',
  port: 1,
  state: 'active',
  rate_mbps: 2500,
  link_layer: 'ethernet',
  mtu: 4096,
  interface: 'eth0',
  numa: null,
  gids: ['RoCE v2'],
};

describe('the hello of a host with RDMA', () => {
  const lab = useVirtualHosts();

  const helloOf = async (host: string, command = HELLO): Promise<AgentHello> => {
    const { text } = await lab.sh(`on ${host} "${command}"`);
    return JSON.parse(/^rdstage\/1 lab (.*)$/m.exec(text)?.[1] ?? '');
  };

  it('has its addresses, its port and no missing parts', async () => {
    const hello = await helloOf('h1');
    expect(hello.rdma).to.deep.equal([RXE0]);
    expect(hello).to.include({ rdma_lacks: null, memlock: null });
    const eth0 = { interface: 'eth0', up: true, speed_mbps: null, kind: 'physical', mtu: 9000 };
    expect(hello.addresses.filter((entry) => entry.interface === 'eth0')).to.deep.equal([
      { address: '10.77.0.1', prefix: 24, ...eth0 },
      { address: 'fd00:77::1', prefix: 64, ...eth0 },
    ]);
  });

  it('has the limit of a user', async () => {
    // The checkout may be in a directory that users cannot enter.
    const copied = await lab.sh(`on h1 "mkdir /tmp/agent && cd ${dirname(AGENT)} && cp rdstage rdhop /tmp/agent"`);
    expect(copied.stderr).to.equal('');
    const hello = await helloOf('ann1', HELLO.replace(AGENT, '/tmp/agent/rdstage'));
    expect(hello).to.include({ rdma_lacks: null, memlock: 8 * 1024 * 1024 });
  });

  it('reports which library is missing', async () => {
    const hide = 'mount --bind /dev/null /usr/lib/x86_64-linux-gnu/librdmacm.so.1';
    const { rdma_lacks } = await helloOf('h1', `unshare --mount sh -c '${hide} && ${HELLO}'`);
    expect(rdma_lacks).to.match(/^librdmacm\.so\.1 .*apt install .*librdmacm1/);
  });

  it('reports that the devices are missing', async () => {
    const { rdma_lacks } = await helloOf(
      'h1',
      `unshare --mount sh -c 'mount -t tmpfs none /dev/infiniband && ${HELLO}'`,
    );
    expect(rdma_lacks).to.match(/rdma_ucm/);
  });
});
