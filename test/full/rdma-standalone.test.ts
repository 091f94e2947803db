// SPDX-License-Identifier: Apache-2.0
// Failures of a standalone hop over RDMA: rdrecv on h2, rdsend on h1.
import { expect } from 'chai';
import { useVirtualHosts } from '../lab/use-virtual-hosts.ts';
import { eventually } from '../support/eventually.ts';
import { ROOT } from '../support/root.ts';

const RDSEND = `${ROOT}/bin/rdsend --transport rdma`;
const RDRECV = `${ROOT}/bin/rdrecv --transport rdma`;
const ADDRESS = '10.77.0.2';
const PORT = 42421;

describe('rdsend and rdrecv over RDMA, without an agent,', () => {
  const lab = useVirtualHosts();

  it('end with a message when no peer listens', async () => {
    const result = await lab.sh(
      `echo hi | on h1 '${RDSEND} --connect-timeout 1 ${ADDRESS} ${PORT} not-much-of-a-secret'`,
    );
    expect(result.status).to.equal(3);
    expect(result.stderr).to.match(/^rdsend: .*10\.77\.0\.2/);
  });

  for (const [killed, survivor] of [
    ['rdsend', 'rdrecv'],
    ['rdrecv', 'rdsend'],
  ] as const) {
    it(`end when ${killed} is killed`, async () => {
      const receiver = lab.start(
        `exec on h2 '${RDRECV} --connect-timeout 60 0 not-much-of-a-secret | (head -c 1; cat > /dev/null)' 2> port`,
      );
      const port = await portOf();
      const sender = lab.start(
        `exec on h1 '${RDSEND} --connect-timeout 60 ${ADDRESS} ${port} not-much-of-a-secret < /dev/zero' 2> sent`,
      );
      await receiver.printed('\0');
      await lab.on(killed === 'rdsend' ? 'h1' : 'h2', `kill -KILL $(pgrep -x ${killed})`);
      await Promise.all([sender.result, receiver.result]);
      expect((await lab.read(survivor === 'rdsend' ? 'sent' : 'port')).toString()).to.match(
        /lost|closed the connection/,
      );
    });
  }

  async function portOf(): Promise<string> {
    return await eventually(async () => {
      const port = /port (\d+)/.exec((await lab.read('port')).toString())?.[1];
      if (port === undefined) throw new Error('rdrecv has told no port');
      return port;
    });
  }
});
