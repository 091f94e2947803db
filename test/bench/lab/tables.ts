// SPDX-License-Identifier: Apache-2.0
import type { Figure } from '../figures.ts';
import type { Column, Table } from '../tables.ts';
import { bulkCases } from './cases-bulk.ts';
import { copyCases } from './cases-copy.ts';
import { hopCases, linkCases } from './cases-hops.ts';
import { smallCases } from './cases-small.ts';
import type { Setup } from './setup.ts';

export const LAB_TABLES = ['rdma-bulk', 'rdma-hops', 'rdma-links', 'rdma-small', 'rdma-copy'] as const;
export type LabTable = (typeof LAB_TABLES)[number];

export function labTables(setup: Setup): Readonly<Record<LabTable, Table>> {
  const { mib, trips } = setup;
  const rate: Column = { title: 'MB/s', figure: 'mb_per_s', digits: 1 };
  const halfTrip: Column = { title: 'half a round trip, mean, µs', figure: 'half_trip_us', digits: 0 };
  const [bulk, hops, links] = [bulkCases(setup), hopCases(setup), linkCases(setup)];
  const [small, copy] = [smallCases(setup), copyCases(setup)];
  return {
    'rdma-bulk': {
      title: `One hop by hand, ${mib} MiB in messages of 1 MiB`,
      cases: bulk,
      columns: [rate, { ...rate, title: 'ratio', digits: 2, base: bulk[0] }, ...busy('busy_h1', 'busy_h2')],
    },
    'rdma-hops': {
      title: `rdpipe, \`head FILE\` to \`cat > /dev/null\`, ${mib} MiB`,
      cases: hops,
      columns: [rate, { ...rate, title: 'ratio', digits: 2, base: hops[0] }, ...busy('busy_h1', 'busy_h2', 'busy_h3')],
    },
    'rdma-links': {
      title: 'A part of it over links slower than the processors',
      cases: links,
      columns: [rate, { ...rate, title: 'ratio', digits: 2, base: links[0] }, ...busy('busy_h1', 'busy_h2', 'busy_h3')],
    },
    'rdma-small': {
      title: `64 bytes to and fro, ${trips} times`,
      cases: small,
      columns: [
        halfTrip,
        { title: 'median, µs', figure: 'median_us', digits: 0, brief: true },
        { title: 'round trips/s', figure: 'trips_per_s', digits: 0, brief: true },
        { ...halfTrip, title: `ratio to ${small[0].name}`, digits: 2, base: small[0] },
        { ...halfTrip, title: `ratio to ${small[1].name}`, digits: 2, base: small[1] },
        ...busy('busy_h1', 'busy_h2'),
      ],
    },
    'rdma-copy': {
      title: `A file of ${mib} MiB from h1 to h2`,
      cases: copy,
      columns: [
        { title: 'wall, s', figure: 'wall_s', digits: 1 },
        { title: 'ratio', figure: 'wall_s', digits: 2, base: copy[0] },
        { title: 'user, s', figure: 'user_s', digits: 1 },
        { title: 'sys, s', figure: 'sys_s', digits: 1 },
        ...busy('busy_h1', 'busy_h2'),
      ],
    },
  };
}

/** Columns with the usage of processors; this machine is the last one. */
function busy(...figures: readonly Figure[]): Column[] {
  const column = (figure: Figure, title: string): Column => ({ title, figure, digits: 2, brief: true });
  const ofHosts = figures.map((figure) => column(figure, `${figure.replace('busy_', '')} busy`));
  return [...ofHosts, column('busy_here', 'machine busy')];
}
