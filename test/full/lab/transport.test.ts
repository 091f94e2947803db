// SPDX-License-Identifier: Apache-2.0
// C suites with the verbs of a host: the promises of every transport,
// and a connection flood at a listener.
import { expect } from 'chai';
import { useVirtualHosts } from '../../lab/use-virtual-hosts.ts';
import { ROOT } from '../../support/root.ts';

const SUITES = `${ROOT}/build/release/rdendpoint-native/test`;

describe('the RDMA transport', () => {
  const lab = useVirtualHosts();

  it('keeps the promises of every transport, at an IPv6 address', async () => {
    const before = await lab.packets('h1');
    expect(await lab.on('h1', `${SUITES}/transport_test fd00:77::1`)).to.match(/^transport: \d+ checks\n$/);
    expect((await lab.packets('h1')).sent).to.be.greaterThan(before.sent);
  });

  it('holds few unauthenticated connections, in little memory, for a short time', async () => {
    expect(await lab.on('h1', `${SUITES}/connection_flood_test 10.77.0.1`)).to.match(
      /\nconnection_flood: \d+ checks\n$/,
    );
  });
});
