// SPDX-License-Identifier: Apache-2.0
// Runs the C suite of transports over the verbs of a host. test/full runs more suites.
import { expect } from 'chai';
import { ROOT } from '../support/root.ts';
import { useVirtualHosts } from './use-virtual-hosts.ts';

const SUITES = `${ROOT}/build/release/rdendpoint-native/test`;

describe('the RDMA transport', () => {
  const lab = useVirtualHosts();

  it('keeps the promises of every transport', async () => {
    const before = await lab.packets('h1');
    expect(await lab.on('h1', `${SUITES}/transport_test 10.77.0.1`)).to.match(/^transport: \d+ checks\n$/);
    expect((await lab.packets('h1')).sent).to.be.greaterThan(before.sent);
  });
});
