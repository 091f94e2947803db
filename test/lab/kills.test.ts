// SPDX-License-Identifier: Apache-2.0
// Something of an RDMA hop dies in mid-stream: the run fails in bounded time with one line that says what, no consumer
// takes a cut-off stream for a whole one, and nothing is left on any host. Agents and hosts that are killed are in
// test/full.
import { beginStream, failsSoon } from './mid-stream.ts';
import { type HostName, useVirtualHosts } from './use-virtual-hosts.ts';

describe('an RDMA hop in mid-stream', () => {
  const lab = useVirtualHosts();
  afterEach(() => lab.on('h2', 'test ! -e /tmp/committed'));

  const kills: readonly (readonly [what: string, host: HostName, command: string, why: RegExp])[] = [
    ['rdsend is killed', 'h1', 'kill -KILL $(pgrep -x rdsend)', /h1.*(killed|SIGKILL|lost)/],
    ['rdrecv is killed', 'h2', 'kill -KILL $(pgrep -o -x rdrecv)', /h2.*(killed|SIGKILL|lost)/],
  ];
  for (const [what, host, command, why] of kills) {
    it(`fails when ${what}`, async () => {
      const running = await beginStream(lab);
      await lab.on(host, command);
      await failsSoon(running, why);
    });
  }

  it('fails when the RDMA device goes', async () => {
    const running = await beginStream(lab);
    await lab.on('h2', 'rdma link delete rxe0');
    try {
      await failsSoon(running, /h1|h2/);
    } finally {
      await lab.on('h2', 'rdma link add rxe0 type rxe netdev eth0');
    }
  });
});
