// SPDX-License-Identifier: Apache-2.0
// A second RDMA network over the second interfaces of hosts.
import type { HostName, VirtualLab } from './use-virtual-hosts.ts';

const HOSTS = ['h1', 'h2'] as const;

/** A command that adds the host to the network. */
export function joinSecondNetwork(host: HostName): string {
  const address = `${secondAddressOf(host)}/24`;
  return `ip link set eth1 up; ip address add ${address} dev eth1; rdma link add rxe1 type rxe netdev eth1`;
}

export function secondAddressOf(host: HostName): string {
  return `10.78.0.${host.slice(1)}`;
}

/** Creates the network of h1 and h2 for the tests of a describe(). */
export function useSecondNetwork(lab: VirtualLab): void {
  before(() => Promise.all(HOSTS.map((host) => lab.on(host, joinSecondNetwork(host)))));
  after(() => Promise.all(HOSTS.map(remove)));

  async function remove(host: (typeof HOSTS)[number]): Promise<void> {
    await lab.restore(host, 'rdma link delete rxe1; ip address flush dev eth1; ip link set eth1 down');
  }
}
