// SPDX-License-Identifier: Apache-2.0
// One standalone hop over RDMA: rdrecv on h2, rdsend on h1.
// rdma-standalone-choice tests their choices of transport, rdma-standalone their failures.
import { expect } from 'chai';
import { useVirtualHosts } from '../../lab/use-virtual-hosts.ts';
import { ROOT } from '../../support/root.ts';
import { succeeded } from '../../support/shell.ts';

const RDSEND = `${ROOT}/bin/rdsend --connect-timeout 60 --transport rdma`;
const RDRECV = `${ROOT}/bin/rdrecv --connect-timeout 60 --transport rdma`;
const ADDRESS = '10.77.0.2';
const PORT = 42421;

describe('rdsend and rdrecv over RDMA, without an agent', () => {
  const lab = useVirtualHosts();

  it('join two pipes', async () =>
    succeeded(
      await lab.sh(
        `on h2 '${RDRECV} ${PORT} not-much-of-a-secret' > out & echo hi | on h1 '${RDSEND} ${ADDRESS} ${PORT} not-much-of-a-secret' && wait $! && cat out`,
      ),
      'hi\n',
    ));

  it('refuse a wrong key and another protocol, and keep waiting', async () => {
    const receiver = lab.start(`exec on h2 '${RDRECV} -q ${PORT} not-much-of-a-secret'`);
    const refused = await lab.sh(`echo hi | on h1 '${RDSEND} ${ADDRESS} ${PORT} a-guess-of-somebody'`);
    expect(refused.status).to.equal(4);
    const other = await lab.sh(`on h3 'timeout 60 rping -v -d -c -a ${ADDRESS} -p ${PORT} -C 1'`);
    expect(other.text).to.include('rdma_connect successful').and.to.include('RDMA_CM_EVENT_DISCONNECTED');
    expect((await lab.sh(`echo hi | on h1 '${RDSEND} ${ADDRESS} ${PORT} not-much-of-a-secret'`)).status).to.equal(0);
    expect((await receiver.result).text).to.equal('hi\n');
  });
});
