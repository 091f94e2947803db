// SPDX-License-Identifier: Apache-2.0
// Something of an RDMA hop dies in mid-stream: the run fails in bounded time with one line that says what, no consumer
// takes a cut-off stream for a whole one, and nothing is left on any host. Agents and hosts that are killed
// are in rdma and rdma-kills.
import { beginStream, failsByItself } from '../../lab/mid-stream.ts';
import { useVirtualHosts } from '../../lab/use-virtual-hosts.ts';

describe('an RDMA hop in mid-stream', () => {
  const lab = useVirtualHosts();
  afterEach(() => lab.on('h2', 'test ! -e /tmp/committed'));

  it('fails when rdrecv is killed', async () => {
    const running = await beginStream(lab);
    await lab.on('h2', 'kill -KILL $(pgrep -o -x rdrecv)');
    await failsByItself(running, /h2.*(killed|SIGKILL|lost)/);
  });

  it('fails when the RDMA device goes', async () => {
    const running = await beginStream(lab);
    await lab.on('h2', 'rdma link delete rxe0');
    try {
      await failsByItself(running, /h1|h2/);
    } finally {
      await lab.on('h2', 'rdma link add rxe0 type rxe netdev eth0');
    }
  });
});
