// SPDX-License-Identifier: Apache-2.0
// One hop by hand over RDMA: rdrecv on h2, rdsend on h1.
import { expect } from 'chai';
import { eventually } from '../support/eventually.ts';
import { ROOT } from '../support/root.ts';
import { succeeded } from '../support/shell.ts';
import { useVirtualHosts } from './use-virtual-hosts.ts';

const RDSEND = `${ROOT}/bin/rdsend --transport rdma`;
const RDRECV = `${ROOT}/bin/rdrecv --transport rdma`;
const ADDRESS = '10.77.0.2';
const PORT = 42421;

describe('rdsend and rdrecv by hand over RDMA', () => {
  const lab = useVirtualHosts();

  it('join two pipes', async () =>
    succeeded(
      await lab.sh(
        `on h2 '${RDRECV} ${PORT} secret' > out & echo hi | on h1 '${RDSEND} ${ADDRESS} ${PORT} secret' && wait $! && cat out`,
      ),
      'hi\n',
    ));

  it('turn away a wrong key and what talks otherwise, and go on waiting', async () => {
    const receiver = lab.start(`exec on h2 '${RDRECV} -q --connect-timeout 30 0 secret' 2> port`);
    const port = await portOf();
    const refused = await lab.sh(`echo hi | on h1 '${RDSEND} ${ADDRESS} ${port} guess'`);
    expect(refused.status).to.equal(4);
    const other = await lab.sh(`on h3 'timeout 20 rping -v -d -c -a ${ADDRESS} -p ${port} -C 1'`);
    expect(other.text).to.include('rdma_connect successful').and.to.include('RDMA_CM_EVENT_DISCONNECTED');
    expect((await lab.sh(`echo hi | on h1 '${RDSEND} ${ADDRESS} ${port} secret'`)).status).to.equal(0);
    expect((await receiver.result).text).to.equal('hi\n');
  });

  it('end with words when nobody listens', async () => {
    const result = await lab.sh(`echo hi | on h1 '${RDSEND} --connect-timeout 1 ${ADDRESS} ${PORT} secret'`);
    expect(result.status).to.equal(3);
    expect(result.stderr).to.match(/^rdsend: .*10\.77\.0\.2/);
  });

  for (const [victim, survivor] of [
    ['rdsend', 'rdrecv'],
    ['rdrecv', 'rdsend'],
  ] as const) {
    it(`end when ${victim} is killed`, async () => {
      const receiver = lab.start(`exec on h2 '${RDRECV} 0 secret | (head -c 1; cat > /dev/null)' 2> port`);
      const port = await portOf();
      const sender = lab.start(`exec on h1 '${RDSEND} ${ADDRESS} ${port} secret < /dev/zero' 2> sent`);
      await receiver.printed('\0');
      await lab.on(victim === 'rdsend' ? 'h1' : 'h2', `kill -KILL $(pidof ${victim})`);
      const started = Date.now();
      await Promise.all([sender.result, receiver.result]);
      expect(Date.now() - started).to.be.lessThan(10_000);
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
    }, 15_000);
  }
});
