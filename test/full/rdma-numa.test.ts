// SPDX-License-Identifier: Apache-2.0
// A host with two NUMA nodes and its RDMA device on the second:
// rdrecv moves to that node, the user's command does not.
import { expect } from 'chai';
import { useVirtualHosts } from '../lab/use-virtual-hosts.ts';
import { reportOf } from '../support/report.ts';
import { ROOT } from '../support/root.ts';

const MIB = 1024 * 1024;
/** After a quarter of this time TCP is tried, which does not depend on a node. */
const PATIENCE = '--connect-timeout 60';
const PROCESSORS = 'grep Cpus_allowed_list';

describe('--numa on a host of two nodes', () => {
  const lab = useVirtualHosts();
  before(async () => {
    await lab.killHost('h2');
    await lab.restartHost('h2', { nodes: 2, cpus: 2 });
  });
  after(async () => {
    await lab.killHost('h2');
    await lab.restartHost('h2');
  });

  it('auto: receives on the node of the device, and runs the command on any', async () => {
    const { status, text, stderr, hop } = await receive('');
    expect(status, stderr).to.equal(0);
    expect(hop?.numa, stderr).to.deep.equal([null, 1]);
    expect(text).to.match(/^Cpus_allowed_list:\t0-1\nCpus_allowed_list:\t1\n(?!0$)\d+\n$/);
  });

  it('off: stays on its node', async () => {
    const { text, hop } = await receive('--numa off');
    expect(text).to.equal('Cpus_allowed_list:\t0-1\nCpus_allowed_list:\t0-1\n0\n');
    expect(hop?.numa).to.deep.equal([null, null]);
  });

  it('auto: without an agent, the command of rdsend runs on any node, and the summary shows the node of rdsend', async () => {
    const receiver = lab.start(`exec on h1 '${ROOT}/bin/rdrecv --transport rdma 42421 secret'`);
    const send = `${ROOT}/bin/rdsend -v --transport rdma 10.77.0.1 42421 secret -- ${PROCESSORS} /proc/self/status`;
    const { status, stderr } = await lab.sh(`on h2 '${send}'`);
    expect(status, stderr).to.equal(0);
    expect(stderr).to.match(/ over rdma rxe0 on node 1, cipher none, authenticated by /);
    expect((await receiver.result).text).to.equal('Cpus_allowed_list:\t0-1\n');
  });

  /** Returns the CPUs of the stage on h2, those of its rdrecv, and how many areas of rdrecv's memory prefer node 1. */
  async function receive(options: string) {
    const look = [
      'exec 3<&0',
      `${PROCESSORS} /proc/self/status`,
      `head -c ${MIB} <&3 > /dev/null`,
      'pid=$(pgrep -x rdrecv)',
      `${PROCESSORS} /proc/$pid/status`,
      'grep -c prefer:1 /proc/$pid/numa_maps || true',
      'cat <&3 > /dev/null',
    ].join('; ');
    const result = await lab.sh(
      `rdpipe ${PATIENCE} --json ${options} h1:'head -c ${32 * MIB} /dev/zero' h2:'${look}' < /dev/null`,
    );
    return { ...result, hop: reportOf(result).hops.find(({ transport }) => transport === 'rdma') };
  }
});
