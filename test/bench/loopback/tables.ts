// SPDX-License-Identifier: Apache-2.0
import type { Case } from '../case.ts';
import type { Column, Table } from '../tables.ts';
import { nullCases } from './cases-null.ts';
import { pipeCases } from './cases-pipe.ts';
import type { Setup } from './setup.ts';

export const LOOPBACK_TABLES = ['pipe', 'null', 'encrypted'] as const;
export type LoopbackTable = (typeof LOOPBACK_TABLES)[number];

const RATE: Column = { title: 'MB/s', figure: 'mb_per_s', digits: 0 };
const PROCESSOR: Column = { title: 'CPU s/GiB', figure: 'cpu_s_per_gib', digits: 2 };
const MEMORY: Column = { title: 'peak RSS, MiB', figure: 'max_rss_mib', digits: 0, brief: true };

/** A case may stand in several tables; it is run once a round. */
export function loopbackTables(setup: Setup): Readonly<Record<LoopbackTable, Table>> {
  const [pipe, toNull] = [pipeCases(setup), nullCases(setup)];
  const { nc, socat, tunedSocat, mbuffer, tunedMbuffer, ssh128, ssh256, rdpipe } = pipe;
  return {
    pipe: {
      title: `Pipe to pipe, ${setup.mib} MiB`,
      cases: [nc, socat, tunedSocat, mbuffer, tunedMbuffer, ssh128, ssh256, ...pipe.plain, rdpipe],
      columns: [RATE, timesRate(nc), timesRate(tunedMbuffer), timesRate(ssh128), PROCESSOR, MEMORY],
    },
    null: {
      title: `File to \`/dev/null\`, ${setup.mib} MiB`,
      cases: [toNull.iperf, ...toNull.plain],
      columns: [RATE, timesRate(toNull.iperf), PROCESSOR, MEMORY],
    },
    encrypted: {
      title: `Encrypted, ${setup.mib} MiB`,
      cases: [nc, ssh128, ssh256, ...pipe.encrypted, ...toNull.encrypted],
      columns: [RATE, timesRate(nc), timesRate(ssh256), PROCESSOR, MEMORY],
    },
  };
}

function timesRate(base: Case): Column {
  return { ...RATE, title: `× ${base.name}`, digits: 2, base };
}
