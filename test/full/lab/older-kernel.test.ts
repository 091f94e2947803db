// SPDX-License-Identifier: Apache-2.0
// Hosts with the kernel of Debian 11, which has no Landlock: what remains of the sandbox holds, and the lack is named.
import { expect } from 'chai';
import { execaSync } from 'execa';
import { succeededOver } from '../../lab/report.ts';
import { useVirtualHosts } from '../../lab/use-virtual-hosts.ts';
import { patience } from '../../support/patience.ts';
import { ROOT } from '../../support/root.ts';

const SUITES = ['rdhop-native/test/taken_over_test', 'rdtree-native/test/taken_over_tree_test'];
const MAKE_MS = patience(300_000);

describe('hosts with the kernel of Debian 11', () => {
  const lab = useVirtualHosts({ debian: 'bullseye' });

  before(function () {
    this.timeout(MAKE_MS);
    execaSync('make', ['-s', '-j2', ...SUITES.map((suite) => `build/release/${suite}`)], { cwd: ROOT });
  });

  it('run that kernel', async () => expect(await lab.on('h1', 'uname -r')).to.match(/^5\.10\./));

  for (const suite of SUITES)
    it(`refuse what a taken-over program tries: ${suite}`, async () =>
      expect(await lab.on('h1', `${ROOT}/build/release/${suite} 2>&1`))
        .to.match(/ Landlock has version 0 /)
        .and.to.match(/: \d+ checks\n$/));

  it('move data over RDMA and TCP', async () => {
    for (const transport of ['rdma', 'tcp']) {
      const stages = "h1:'echo hi' h2:rev h3:'> /tmp/out'";
      succeededOver(await lab.sh(`rdpipe --json --transport ${transport} ${stages}`), '', [transport, transport]);
      expect(await lab.on('h3', 'cat /tmp/out; rm /tmp/out')).to.equal('ih\n');
    }
  });

  it('copy a tree', async () => {
    await lab.on('h1', 'mkdir -p /tmp/tree/below && seq 1000 > /tmp/tree/below/f && ln -s below/f /tmp/tree/l');
    const { status, stderr } = await lab.sh('rdcp -a h1:/tmp/tree h2:/tmp/');
    expect(status, stderr).to.equal(0);
    expect(await lab.on('h2', 'cd /tmp/tree && readlink l && tail -1 l && rm -r /tmp/tree')).to.equal(
      'below/f\n1000\n',
    );
    await lab.on('h1', 'rm -r /tmp/tree');
  });

  it('are named by -v with what their kernel lacks', async () => {
    const { stderr } = await lab.sh('rdpipe -v h1:true h2:true');
    for (const host of ['h1', 'h2'])
      expect(stderr).to.include(`${host}: no Landlock: a program that was taken over can use any file of its user`);
  });
});
