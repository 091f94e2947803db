// SPDX-License-Identifier: Apache-2.0
// The transport that rdsend on h1 and rdrecv on h2 choose without an agent.
import { expect } from 'chai';
import { useVirtualHosts } from '../lab/use-virtual-hosts.ts';
import { ROOT } from '../support/root.ts';

const RDSEND = `${ROOT}/bin/rdsend -v`;
const RDRECV = `${ROOT}/bin/rdrecv -v`;
const PORT = 42422;
/** TCP is tried after a quarter of this time, and RDMA may need some of it on a busy machine. */
const SENT_PATIENTLY = `echo hi | ${RDSEND} --connect-timeout 60 10.77.0.2 ${PORT} not-much-of-a-secret`;
const RECEIVED = `${RDRECV} --connect-timeout 60 ${PORT} not-much-of-a-secret`;

describe('rdsend and rdrecv without an agent, free to choose', () => {
  const lab = useVirtualHosts();

  it('use RDMA, whichever of them starts first', async () => {
    await joined(`on h2 '${RECEIVED}' 2> received & sleep 0.5; on h1 '${SENT_PATIENTLY}' 2> sent`, 'rdma rxe0');
    await joined(`on h1 '${SENT_PATIENTLY}' 2> sent & sleep 0.5; on h2 '${RECEIVED}' 2> received`, 'rdma rxe0');
  });

  it('report one free port, on which both listen', async () => {
    const listening = lab.start(
      `exec on h2 '${ROOT}/bin/rdrecv --connect-timeout 1 0 not-much-of-a-secret' 2> received`,
    );
    expect((await listening.result).status).to.equal(3);
    expect(await said('received')).to.match(
      /^rdrecv: listening on port \d+\nrdrecv: no peer connected within 1 s .*\n$/,
    );
  });

  it('shrink a buffer that a user may not lock, and report it', async () => {
    await joined(`on ann2 '${RECEIVED}' 2> received & on ann1 '${SENT_PATIENTLY}' 2> sent`, 'rdma rxe0');
    const note = /: buffer of 8\.0 MiB reduced to [3-6]\.\d MiB: memlock limit 8\.0 MiB \(raise it in /;
    expect(await said('sent')).to.match(note);
    expect(await said('received')).to.match(note);
  });

  it('run commands, which end as over TCP', async () => {
    const consumed = `${RDRECV} --connect-timeout 60 --transport rdma ${PORT} not-much-of-a-secret -- sh -c "cat > /tmp/seen; touch /tmp/whole"`;
    const produced = `${RDSEND} --connect-timeout 60 --transport rdma 10.77.0.2 ${PORT} not-much-of-a-secret -- sh -c "seq 1000; exit 3"`;
    const result = await lab.sh(`on h2 '${consumed}' & on h1 '${produced}'; echo $?; wait $!; echo $?`);
    expect(result.text).to.equal('3\n9\n');
    expect(await lab.on('h2', 'ls /tmp/whole 2> /dev/null || rm /tmp/seen')).to.equal('');
  });

  describe('if the receiver has no device', () => {
    before(() => lab.on('h2', 'rdma link delete rxe0'));
    after(() => lab.on('h2', 'rdma link add rxe0 type rxe netdev eth0'));

    it('switch to TCP before the connect timeout is over', async () => {
      const sent = SENT_PATIENTLY.replace('60', '30');
      await joined(`on h2 '${RECEIVED}' 2> received & on h1 '${sent}' 2> sent`, 'tcp');
    });

    it('do not if RDMA was required', async () => {
      const receiver = `${RDRECV} --connect-timeout 4 ${PORT} not-much-of-a-secret`;
      const wanted = `echo hi | ${RDSEND} --transport rdma --connect-timeout 2 10.77.0.2 ${PORT} not-much-of-a-secret`;
      const result = await lab.sh(`on h2 '${receiver}' 2> received & on h1 '${wanted}'; echo $?; wait $!; echo $?`);
      expect(result.text).to.equal('3\n3\n');
      expect(result.stderr)
        .to.match(/^rdsend: .*10\.77\.0\.2.*\n$/)
        .and.to.include('RDMA');
    });
  });

  async function joined(script: string, transport: string): Promise<void> {
    const result = await lab.sh(`${script}; first=$?; wait $! && exit $first`);
    expect(result, JSON.stringify([await said('sent'), await said('received')])).to.include({
      status: 0,
      text: 'hi\n',
    });
    for (const name of ['sent', 'received']) expect(await said(name)).to.include(` over ${transport}, cipher `);
  }

  async function said(name: string): Promise<string> {
    return (await lab.read(name)).toString();
  }
});
