// SPDX-License-Identifier: Apache-2.0
// One hop by hand over RDMA: rdrecv on h2, rdsend on h1. Their own choices, and their ends, are in
// rdma-standalone-choice and rdma-standalone.
import { expect } from 'chai';
import { useVirtualHosts } from '../../lab/use-virtual-hosts.ts';
import { ROOT } from '../../support/root.ts';
import { succeeded } from '../../support/shell.ts';

const RDSEND = `${ROOT}/bin/rdsend --connect-timeout 60 --transport rdma`;
const RDRECV = `${ROOT}/bin/rdrecv --connect-timeout 60 --transport rdma`;
const ADDRESS = '10.77.0.2';
const PORT = 42421;

describe('rdsend and rdrecv by hand over RDMA', () => {
  const lab = useVirtualHosts();

  it('join two pipes', async () =>
    succeeded(
      await lab.sh(
        `on h2 '${RDRECV} ${PORT} not-much-of-a-secret' > out & echo hi | on h1 '${RDSEND} ${ADDRESS} ${PORT} not-much-of-a-secret' && wait $! && cat out`,
      ),
      'hi\n',
    ));

  it('turn away a wrong key and what talks otherwise, and go on waiting', async () => {
    const receiver = lab.start(`exec on h2 '${RDRECV} -q ${PORT} not-much-of-a-secret'`);
    const refused = await lab.sh(`echo hi | on h1 '${RDSEND} ${ADDRESS} ${PORT} a-guess-of-somebody'`);
    expect(refused.status).to.equal(4);
    const other = await lab.sh(`on h3 'timeout 60 rping -v -d -c -a ${ADDRESS} -p ${PORT} -C 1'`);
    expect(other.text).to.include('rdma_connect successful').and.to.include('RDMA_CM_EVENT_DISCONNECTED');
    expect((await lab.sh(`echo hi | on h1 '${RDSEND} ${ADDRESS} ${PORT} not-much-of-a-secret'`)).status).to.equal(0);
    expect((await receiver.result).text).to.equal('hi\n');
  });
});
