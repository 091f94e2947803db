// SPDX-License-Identifier: Apache-2.0
// A launch on 100 hosts, whose agents are this process: a short form of full/thousand-agents.
import { expect } from 'chai';
import { launchCrowd, useCrowd } from '../support/crowd-run.ts';

describe('a launch on 100 hosts', () => {
  const crowd = useCrowd();

  for (const way of ['launcher', 'ssh'] as const) {
    it(`takes less than 160 MiB, over ${way}`, async () => {
      const { hosts, finished } = await launchCrowd(crowd, 99, 2, '', way);
      expect(hosts).to.equal(100);
      expect(finished.peakMib).to.be.lessThan(160);
    });
  }

  it('makes as many logins at once as --connects allows', async () => {
    const { mostLogins } = await launchCrowd(crowd, 49, 1, '--connects 4', 'launcher', 4);
    expect(mostLogins).to.equal(4);
  });

  it('gives advice if a limit of descriptors is too small', async () => {
    const { status, stderr } = await crowd.lab.sh(
      `ulimit -n 120; rdpipe --launcher 'command:${crowd.crowd.shell} %h' 'h0:< x' 'n[1-99]:> y'`,
    );
    expect(status, stderr).to.equal(125);
    expect(stderr).to.match(/too many open files \(ulimit -n raises the limit\)/);
  });
});
