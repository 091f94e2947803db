// SPDX-License-Identifier: Apache-2.0
// A pipeline from host to host. The user's machine has no RDMA: the first and the last hop use TCP.
// test/full has more of them.
import { expect } from 'chai';
import { protectionOf } from '../../packages/rdpipe/src/model/cipher.ts';
import { succeededOver } from './report.ts';
import { useVirtualHosts } from './use-virtual-hosts.ts';

const SHOUT = "'tr a-z A-Z'";

describe('a pipeline over virtual hosts', () => {
  const lab = useVirtualHosts();

  it('runs over RDMA between two hosts, authenticated and not encrypted, and over encrypted TCP to the user', async () => {
    const before = await lab.packets('h1');
    const result = await lab.sh(`echo hi | rdpipe --json h1:${SHOUT} h2:rev`);
    const { hops } = succeededOver(result, 'IH\n', ['tcp', 'rdma', 'tcp']);
    expect(hops.map(({ cipher }) => protectionOf(cipher))).to.deep.equal(['seal', 'mac', 'seal']);
    const after = await lab.packets('h1');
    expect(after.sent).to.be.greaterThan(before.sent);
    expect(after.received).to.be.greaterThan(before.received);
  });
});
