// SPDX-License-Identifier: Apache-2.0
import type { Setup } from './case.ts';
import { BULK_BASE, bulkCases } from './cases-bulk.ts';
import { copyCases, RSYNC } from './cases-copy.ts';
import { hopCases, ONE_HOP } from './cases-hops.ts';
import { RSTREAM_LATENCY, SEND_LATENCY, smallCases } from './cases-small.ts';
import type { Figure } from './figures.ts';
import type { Column, Table } from './tables.ts';

const NAMES = ['bulk', 'hops', 'small', 'copy'] as const;
export type TableName = (typeof NAMES)[number];

export function isTableName(word: string): word is TableName {
  return NAMES.some((name) => name === word);
}

export function allTables(setup: Setup): Readonly<Record<TableName, Table>> {
  const { mib, trips } = setup;
  const rate: Column = { title: 'MB/s', figure: 'mb_per_s', digits: 1 };
  const halfTrip: Column = { title: 'half a round trip, mean, µs', figure: 'half_trip_us', digits: 0 };
  return {
    bulk: {
      title: `One hop by hand, ${mib} MiB in messages of 1 MiB`,
      cases: bulkCases(setup),
      columns: [rate, { ...rate, title: 'ratio', digits: 2, base: BULK_BASE }, ...busy('busy_h1', 'busy_h2')],
    },
    hops: {
      title: `rdpipe, \`cat FILE\` to \`cat > /dev/null\`, ${mib} MiB`,
      cases: hopCases(setup),
      columns: [rate, { ...rate, title: 'ratio', digits: 2, base: ONE_HOP }, ...busy('busy_h1', 'busy_h2', 'busy_h3')],
    },
    small: {
      title: `64 bytes to and fro, ${trips} times`,
      cases: smallCases(setup),
      columns: [
        halfTrip,
        { title: 'median, µs', figure: 'median_us', digits: 0, brief: true },
        { title: 'round trips/s', figure: 'trips_per_s', digits: 0, brief: true },
        { ...halfTrip, title: `ratio to ${SEND_LATENCY}`, digits: 2, base: SEND_LATENCY },
        { ...halfTrip, title: `ratio to ${RSTREAM_LATENCY}`, digits: 2, base: RSTREAM_LATENCY },
        ...busy('busy_h1', 'busy_h2'),
      ],
    },
    copy: {
      title: `A file of ${mib} MiB from h1 to h2`,
      cases: copyCases(setup),
      columns: [
        { title: 'wall, s', figure: 'wall_s', digits: 1 },
        { title: 'ratio', figure: 'wall_s', digits: 2, base: RSYNC },
        { title: 'user, s', figure: 'user_s', digits: 1 },
        { title: 'sys, s', figure: 'sys_s', digits: 1 },
        ...busy('busy_h1', 'busy_h2'),
      ],
    },
  };
}

/** Columns of how busy the processors were; this machine's last. */
function busy(...figures: readonly Figure[]): Column[] {
  const column = (figure: Figure, title: string): Column => ({ title, figure, digits: 2, brief: true });
  const ofHosts = figures.map((figure) => column(figure, `${figure.replace('busy_', '')} busy`));
  return [...ofHosts, column('busy_here', 'machine busy')];
}
