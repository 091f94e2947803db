// SPDX-License-Identifier: Apache-2.0
// The conformance suite of the transports, over the verbs of a host.
import { expect } from 'chai';
import { ROOT } from '../support/root.ts';
import { useVirtualHosts } from './use-virtual-hosts.ts';

const SUITE = `${ROOT}/build/release/rdcore-native/test/transport_test`;

describe('the RDMA transport', () => {
  const lab = useVirtualHosts();

  for (const address of ['10.77.0.1', 'fd00:77::1']) {
    it(`keeps what every transport promises, at ${address}`, async () => {
      const before = await lab.packets('h1');
      expect(await lab.on('h1', `${SUITE} ${address}`)).to.match(/^transport: \d+ checks\n$/);
      expect((await lab.packets('h1')).sent).to.be.greaterThan(before.sent);
    });
  }
});
