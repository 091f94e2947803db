// SPDX-License-Identifier: Apache-2.0
// A process of an RDMA hop is killed in mid-stream:
// the run fails in bounded time with one line that names it, no consumer takes a cut-off stream for a complete one, and
// nothing is left on any host. rdma and rdma-kills kill agents and hosts.
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

  it('fails when the RDMA device is removed', async () => {
    const running = await beginStream(lab);
    await lab.on('h2', 'rdma link delete rxe0');
    try {
      await failsByItself(running, /h1|h2/);
    } finally {
      await lab.on('h2', 'rdma link add rxe0 type rxe netdev eth0');
    }
  });
});
