// SPDX-License-Identifier: Apache-2.0
// The network of a lab: a namespace with two bridges and a tap per host, without a route to outside.
// This machine's addresses in it end in 254 (fe), without an RDMA device.
import { configure, makeNamespace } from '../support/namespaces.ts';

/** The IPv4 address of a host. */
export function addressOf(number: number): string {
  return `10.77.0.${number}`;
}

export function address6Of(number: number): string {
  return `fd00:77::${number}`;
}

/** This machine's end of the host's first or second interface. */
export function tapOf(number: number, network: 0 | 1 = 0): string {
  return `tap${number}.${network}`;
}

export function makeNetwork(namespace: string, hosts: number, mtu: number): void {
  const taps = Array.from({ length: hosts }, (_, index) => [tapOf(index + 1, 0), tapOf(index + 1, 1)] as const);
  makeNamespace(namespace);
  configure(namespace, [
    ...bridge('br0', mtu),
    ...bridge('br1', mtu),
    'address add 10.77.0.254/24 dev br0',
    'address add fd00:77::fe/64 dev br0 nodad',
    ...taps.flatMap(([first, second]) => [...tap(first, 'br0', mtu), ...tap(second, 'br1', mtu)]),
  ]);
}

/** Pulls a host's cable, or plugs it in again. */
export function setLink(namespace: string, tapName: string, state: 'up' | 'down'): void {
  configure(namespace, [`link set ${tapName} ${state}`]);
}

function bridge(name: string, mtu: number): string[] {
  return [`link add ${name} type bridge forward_delay 0`, `link set ${name} mtu ${mtu} up`];
}

function tap(name: string, bridgeName: string, mtu: number): string[] {
  return [`tuntap add ${name} mode tap vnet_hdr`, `link set ${name} mtu ${mtu} master ${bridgeName} up`];
}
