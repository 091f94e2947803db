// SPDX-License-Identifier: Apache-2.0
// Creates a second RDMA network over the second interfaces of h1 and h2, for tests of a describe().
import type { VirtualLab } from './use-virtual-hosts.ts';

const HOSTS = ['h1', 'h2'] as const;

export function useSecondNetwork(lab: VirtualLab): void {
  before(() => Promise.all(HOSTS.map(add)));
  after(() => Promise.all(HOSTS.map(remove)));

  async function add(host: (typeof HOSTS)[number]): Promise<void> {
    const address = `10.78.0.${host.slice(1)}/24`;
    await lab.on(
      host,
      `ip link set eth1 up; ip address add ${address} dev eth1; rdma link add rxe1 type rxe netdev eth1`,
    );
  }

  async function remove(host: (typeof HOSTS)[number]): Promise<void> {
    await lab.restore(host, 'rdma link delete rxe1; ip address flush dev eth1; ip link set eth1 down');
  }
}
