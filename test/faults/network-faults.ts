// SPDX-License-Identifier: Apache-2.0
// The faults of a network between two hosts.
import type { Cables, Wire } from '../support/cables.ts';

export interface Fault {
  readonly name: string;
  begin(cables: Cables): void;
  /** `silence`: packets are lost until the network is repaired. `end`: connections end, or cannot be established. */
  readonly kind: 'silence' | 'end';
  /** The host whose packets to the other are lost; absent: both directions are silent. */
  readonly silent?: string;
}

/** Larger than the packets of a handshake, smaller than a packet full of data. */
const SMALL_PACKET_BYTES = 1000;

/** Faults that last until the network is repaired. */
export function passingFaults(from: string, to: string, wire: Wire): readonly Fault[] {
  return [
    { name: `${from}'s cable is pulled`, kind: 'silence', begin: (cables) => cables.setCable(from, wire, 'down') },
    { name: `${to}'s cable is pulled`, kind: 'silence', begin: (cables) => cables.setCable(to, wire, 'down') },
    {
      name: 'packets are lost in both directions',
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
      return { name: `${host} resets connections`, kind: 'end', begin: (cables) => cables.reset(host, wire) };
    }),
  ];
}

/**
 * A path whose MTU is smaller than both ends assume, without an error report: new connections are established but carry
 * no data.
 */
export function blackHole(from: string, to: string, wire: Wire): Fault {
  const begin = (cables: Cables) => cables.drop(from, to, wire, `meta length > ${SMALL_PACKET_BYTES}`);
  return { name: `large packets from ${from} are lost`, kind: 'end', begin };
}

/** Momentary faults. */
export function suddenFaults(from: string, to: string, wire: Wire): readonly Fault[] {
  return [
    { name: `${from} loses its connections`, kind: 'end', begin: (cables) => cables.breakConnections(from, to, wire) },
    { name: `${to} loses its connections`, kind: 'end', begin: (cables) => cables.breakConnections(to, from, wire) },
  ];
}

/** Faults that cannot be repaired. */
export function lastingFaults(from: string, to: string, wire: Wire): readonly Fault[] {
  return [from, to].flatMap((host): Fault[] => [
    { name: `${host}'s interface is removed`, kind: 'silence', begin: (cables) => cables.removeInterface(host, wire) },
    { name: `${host} is destroyed`, kind: 'silence', begin: (cables) => cables.destroyHost(host), silent: host },
  ]);
}
