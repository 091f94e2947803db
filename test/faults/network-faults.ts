// SPDX-License-Identifier: Apache-2.0
// The faults of a network between two hosts.
import type { Cables, Wire } from '../support/cables.ts';

export interface Fault {
  readonly name: string;
  begin(cables: Cables): void;
  /** `silence` that ends when the network is mended; or connections end, or come to nothing. */
  readonly kind: 'silence' | 'end';
  /** The host that is silent for the other; none: each is silent for the other. */
  readonly silent?: string;
}

/** Longer than what a handshake needs, shorter than a packet full of data. */
const SMALL_PACKET_BYTES = 1000;

/** Those that last until the network is mended. */
export function passingFaults(from: string, to: string, wire: Wire): readonly Fault[] {
  return [
    { name: `${from}'s cable is pulled`, kind: 'silence', begin: (cables) => cables.setCable(from, wire, 'down') },
    { name: `${to}'s cable is pulled`, kind: 'silence', begin: (cables) => cables.setCable(to, wire, 'down') },
    {
      name: 'packets are lost both ways',
      kind: 'silence',
      begin: (cables) => {
        cables.drop(from, to, wire);
        cables.drop(to, from, wire);
      },
    },
    ...[from, to].map((silent): Fault => {
      const other = silent === from ? to : from;
      const begin = (cables: Cables) => cables.drop(silent, other, wire);
      return { name: `packets from ${silent} are lost`, kind: 'silence', begin, silent };
    }),
    ...[from, to].map((host): Fault => {
      return { name: `${host} resets what comes`, kind: 'end', begin: (cables) => cables.reset(host, wire) };
    }),
  ];
}

/**
 * A path whose MTU is smaller than both ends believe, without a report to them: new connections are made, and carry
 * nothing.
 */
export function blackHole(from: string, to: string, wire: Wire): Fault {
  const begin = (cables: Cables) => cables.drop(from, to, wire, `meta length > ${SMALL_PACKET_BYTES}`);
  return { name: `large packets from ${from} are lost`, kind: 'end', begin };
}

/** Those that are over as soon as they happened. */
export function suddenFaults(from: string, to: string, wire: Wire): readonly Fault[] {
  return [
    { name: `${from} loses its connections`, kind: 'end', begin: (cables) => cables.breakConnections(from, to, wire) },
    { name: `${to} loses its connections`, kind: 'end', begin: (cables) => cables.breakConnections(to, from, wire) },
  ];
}

/** Those that nothing mends. */
export function lastingFaults(from: string, to: string, wire: Wire): readonly Fault[] {
  return [from, to].flatMap((host): Fault[] => [
    { name: `${host}'s interface goes`, kind: 'silence', begin: (cables) => cables.removeInterface(host, wire) },
    { name: `${host} is destroyed`, kind: 'silence', begin: (cables) => cables.destroyHost(host), silent: host },
  ]);
}
