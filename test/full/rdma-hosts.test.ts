// SPDX-License-Identifier: Apache-2.0
// More forms of a pipeline over virtual hosts.
import { expect } from 'chai';
import { succeededOver } from '../lab/report.ts';
import { useVirtualHosts } from '../lab/use-virtual-hosts.ts';
import { succeeded } from '../support/shell.ts';

const SHOUT = "'tr a-z A-Z'";

describe('a pipeline over virtual hosts', () => {
  const lab = useVirtualHosts();

  it('runs over RDMA between three', async () => {
    const result = await lab.sh(`echo hi | rdpipe --connect-timeout 60 --json h1:${SHOUT} h2:rev h3:'sed s/^/-/'`);
    succeededOver(result, '-IH\n', ['tcp', 'rdma', 'rdma', 'tcp']);
  });

  it('returns to a host', async () => {
    const result = await lab.sh(`echo hi | rdpipe --connect-timeout 60 --json h1:${SHOUT} h2:rev h1:'sed s/^/-/'`);
    succeededOver(result, '-IH\n', ['tcp', 'rdma', 'rdma', 'tcp']);
  });

  it('joins neighbours on one host without a network', async () => {
    const result = await lab.sh(`echo hi | rdpipe --connect-timeout 60 --json h1:${SHOUT} h1:rev h2:'sed s/^/-/'`);
    succeededOver(result, '-IH\n', ['tcp', 'rdma', 'tcp']);
  });

  it('runs over RDMA without ever sleeping', async () => {
    const result = await lab.sh("rdpipe --connect-timeout 60 --json --poll h1:'echo hi' h2:rev");
    succeededOver(result, 'ih\n', ['rdma', 'tcp']);
  });

  it('runs over TCP if requested', async () => {
    const before = await lab.packets('h1');
    succeeded(await lab.sh(`echo hi | rdpipe --transport tcp h1:${SHOUT} h2:rev`), 'IH\n');
    expect(await lab.packets('h1')).to.deep.equal(before);
  });
});
