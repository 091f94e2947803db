// SPDX-License-Identifier: Apache-2.0
// A program of an RDMA hop is killed in mid-stream: the run fails with one line that names the cause,
// no consumer mistakes a truncated stream for a complete one, and nothing is left on any host.
// test/full has more cells.
import { beginStream, failsByItself } from './mid-stream.ts';
import { useVirtualHosts } from './use-virtual-hosts.ts';

describe('an RDMA hop in mid-stream', () => {
  const lab = useVirtualHosts();

  it('fails when rdsend is killed', async () => {
    const running = await beginStream(lab);
    await lab.on('h1', 'kill -KILL $(pgrep -x rdsend)');
    await failsByItself(running, /h1.*(killed|SIGKILL|lost)/);
    await lab.on('h2', 'test ! -e /tmp/committed');
  });
});
