// SPDX-License-Identifier: Apache-2.0
// A host's cable is pulled in mid-stream and stays unplugged, for control and data alike.
import { beginStream, failsByItself } from '../../lab/mid-stream.ts';
import { useVirtualHosts } from '../../lab/use-virtual-hosts.ts';

describe('an RDMA hop whose cable is pulled', () => {
  const lab = useVirtualHosts();

  it('fails if it stays out', async () => {
    const running = await beginStream(lab);
    lab.setCable('h2', 'down');
    try {
      await failsByItself(running, /h2/);
    } finally {
      lab.setCable('h2', 'up');
    }
    await lab.on('h2', 'test ! -e /tmp/committed');
  });
});
