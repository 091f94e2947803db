// SPDX-License-Identifier: Apache-2.0
import type { Case } from '../case.ts';
import type { Column, Table } from '../tables.ts';
import type { LoopbackCases } from './cases.ts';
import { WIDTH_MAX } from './cases-fan-out.ts';
import { STAGES_MAX } from './cases-start.ts';
import type { GroundOptions } from './loopback-ground.ts';
import { ROUND_TRIP_MS } from './slow-link.ts';
import { emptyFilesOf, smallFilesOf } from './trees.ts';

export const LOOPBACK_TABLES = [
  'pipe',
  'null',
  'file',
  'encrypted',
  'compressed',
  'lines',
  'writes',
  'sizes',
  'start',
  'stages',
  'window',
  'streams',
  'streams-loss',
  'links',
  'trips',
  'readers',
  'rdssh-start',
  'rdssh-one-way',
  'rdssh-both-ways',
  'copy-file',
  'copy-tree',
  'copy-again',
  'copy-empty',
  'fan-out-width',
  'fan-out-loss',
  'fan-out-hosts',
  'fan-out-tools',
] as const;
export type LoopbackTable = (typeof LOOPBACK_TABLES)[number];
export const COPY_TABLES: readonly LoopbackTable[] = LOOPBACK_TABLES.filter((name) => name.startsWith('copy-'));
/** Tables of TCP's throughput: their cases also run with cubic. */
export const CUBIC_TABLES: readonly LoopbackTable[] = ['pipe', 'null', 'encrypted', 'window'];
/** Tables of cases over the link with a long round trip. */
export const SLOW_LINK_TABLES: readonly LoopbackTable[] = ['window', 'streams', 'streams-loss'];
export const FAN_OUT_TABLES: readonly LoopbackTable[] = LOOPBACK_TABLES.filter((name) => name.startsWith('fan-out-'));

const RATE: Column = { title: 'MB/s', figure: 'mb_per_s', digits: 0 };
const PROCESSOR: Column = { title: 'CPU s/GiB', figure: 'cpu_s_per_gib', digits: 2 };
const MEMORY: Column = { title: 'peak RSS, MiB', figure: 'max_rss_mib', digits: 0, brief: true };
const WALL: Column = { title: 's', figure: 'wall_s', digits: 2 };

/** A case in several tables runs only once per round. `mib`: the amount that most runs move. */
export function loopbackTables(cases: LoopbackCases, mib: number): Readonly<Record<LoopbackTable, Table>> {
  return {
    ...bulkTables(cases, mib),
    compressed: compressedTable(cases, mib),
    ...smallTables(cases),
    ...startTables(cases),
    window: windowTable(cases),
    ...streamsTables(cases, mib),
    links: linksTable(cases, mib),
    ...forwardTables(cases, mib),
    ...rdsshTables(cases, mib),
    ...copyTables(cases, mib),
    ...fanOutTables(cases, mib),
  };
}

/** The ground that these tables need: the number of ssh servers, the slow link, and so on. */
export function groundFor(tables: readonly LoopbackTable[]): Omit<GroundOptions, 'parent' | 'cubic' | 'bin'> {
  const long = (['start', 'stages', 'fan-out-hosts'] as const).some((name) => tables.includes(name));
  const copies = tables.some((name) => COPY_TABLES.includes(name));
  const slowLink = SLOW_LINK_TABLES.some((name) => tables.includes(name));
  const switchedHosts = tables.includes('fan-out-tools') || tables.includes('links');
  const hosts = long ? STAGES_MAX : tables.includes('fan-out-width') || tables.includes('fan-out-loss') ? WIDTH_MAX : 2;
  return { hosts, slowLink, switchedHosts, rails: tables.includes('links'), copies };
}

function bulkTables(
  { pipe, toNull, file }: LoopbackCases,
  mib: number,
): Readonly<Record<'pipe' | 'null' | 'file' | 'encrypted', Table>> {
  const { nc, tunedMbuffer, ssh128, ssh256 } = pipe;
  return {
    pipe: {
      title: `Pipe to pipe, ${mib} MiB`,
      cases: [nc, ...pipe.otherPeers, tunedMbuffer, ssh128, ssh256, ...pipe.plain, ...pipe.authenticated, pipe.rdpipe],
      columns: [RATE, ...[nc, tunedMbuffer, ssh128].map(timesRate), PROCESSOR, MEMORY],
    },
    null: {
      title: `File to \`/dev/null\`, ${mib} MiB`,
      cases: [toNull.iperf, ...toNull.plain, ...toNull.authenticated],
      columns: [RATE, timesRate(toNull.iperf), PROCESSOR, MEMORY],
    },
    file: {
      title: `File to file, ${mib} MiB`,
      cases: [file.cp, file.cpSync, file.dd, ...file.cached, ...file.cold],
      columns: [RATE, timesRate(file.cp), timesRate(file.dd), PROCESSOR, MEMORY],
    },
    encrypted: {
      title: `Encrypted, ${mib} MiB`,
      cases: [nc, ssh128, ssh256, ...pipe.encrypted, ...toNull.encrypted],
      columns: [RATE, timesRate(nc), timesRate(ssh256), PROCESSOR, MEMORY],
    },
  };
}

function compressedTable({ compressed }: LoopbackCases, mib: number): Table {
  const { zstd, both, unpack, oneJob, twoJobs, encrypted, random } = compressed;
  return {
    title: `Text, compressed by zstd at level 1, ${mib} MiB`,
    cases: [zstd, both, unpack, ...oneJob, ...twoJobs, ...encrypted, ...random],
    columns: [
      RATE,
      timesRate(zstd),
      timesRate(both),
      PROCESSOR,
      { title: 'of the receiver', figure: 'receiver_s_per_gib', digits: 2, brief: true },
      MEMORY,
    ],
  };
}

function smallTables({ small }: LoopbackCases): Readonly<Record<'lines' | 'writes' | 'sizes', Table>> {
  const { lines, writes, sizes } = small;
  const delay: Column = { title: 'median, µs', figure: 'median_us', digits: 0 };
  return {
    lines: {
      title: 'A line every millisecond: how long it takes',
      cases: lines,
      columns: [
        delay,
        { title: '99 of 100 within, µs', figure: 'most_us', digits: 0 },
        { title: 'CPU s', figure: 'cpu_s', digits: 2, brief: true },
      ],
    },
    writes: {
      title: 'Writes of 64 bytes, as fast as they are taken',
      cases: writes,
      columns: [{ ...RATE, digits: 1 }, timesRate(writes[0]), PROCESSOR],
    },
    sizes: {
      title: 'Throughput against the size of writes',
      cases: sizes.map(({ one }) => one),
      columns: [RATE, PROCESSOR],
    },
  };
}

function startTables({ start }: LoopbackCases): Readonly<Record<'start' | 'stages', Table>> {
  const logins = new Map(start.map(({ ssh, rdpipe }) => [rdpipe, ssh]));
  return {
    start: {
      title: 'Start-up: a word through a pipeline',
      cases: start.flatMap(({ ssh, rdpipe }) => [ssh, rdpipe]),
      columns: [
        WALL,
        { ...WALL, title: '× as many logins', base: logins },
        { title: 'CPU s', figure: 'cpu_s', digits: 2 },
      ],
    },
    stages: {
      title: 'Stages in a chain, the user’s own input and output at its ends',
      cases: start.map(({ stream }) => stream),
      columns: [
        { title: 'first byte, s', figure: 'first_byte_s', digits: 2 },
        RATE,
        { ...MEMORY, title: 'peak RSS of rdpipe, MiB' },
        { title: 'of rdsend or rdrecv, MiB', figure: 'native_rss_mib', digits: 0, brief: true },
        { title: 'CPU s', figure: 'cpu_s', digits: 2 },
      ],
    },
  };
}

function streamsTables({ streams }: LoopbackCases, mib: number): Readonly<Record<'streams' | 'streams-loss', Table>> {
  const columns = ([one, nc]: readonly [Case, ...Case[]]) => [RATE, ...(nc ? [one, nc] : [one]).map(timesRate), MEMORY];
  const trip = `Over a round trip of ${ROUND_TRIP_MS} ms with cubic`;
  return {
    streams: { title: `${trip}, ${mib} MiB`, cases: streams.clean, columns: columns(streams.clean) },
    'streams-loss': {
      title: `${trip} and a loss of 0.1 %`,
      cases: streams.lossy,
      columns: columns(streams.lossy).map((column) => (column === RATE ? { ...RATE, digits: 1 } : column)),
    },
  };
}

function linksTable({ links: { hop, chain, rail, rails } }: LoopbackCases, mib: number): Table {
  const bases = new Map([
    [chain, hop],
    [rails, rail],
  ]);
  return {
    title: `Links slower than the processors, ${Math.ceil(mib / 4)} MiB`,
    cases: [hop, chain, rail, rails],
    columns: [{ ...RATE, digits: 1 }, { ...RATE, title: '× one link', digits: 2, base: bases }, PROCESSOR],
  };
}

function windowTable({ window: cases }: LoopbackCases): Table {
  return {
    title: `Over a link with a round trip of ${ROUND_TRIP_MS} ms`,
    cases,
    columns: [RATE, timesRate(cases[0]), PROCESSOR],
  };
}

function forwardTables({ forward }: LoopbackCases, mib: number): Readonly<Record<'trips' | 'readers', Table>> {
  const { trips, readers } = forward;
  const trip: Column = { title: 'median, µs', figure: 'median_us', digits: 0 };
  const [direct, ssh] = trips;
  return {
    trips: {
      title: 'Forwarded connections: 64 bytes there and back',
      cases: trips,
      columns: [trip, ...[direct, ssh].map((base) => ({ ...trip, title: `× ${base.name}`, digits: 2, base }))],
    },
    readers: {
      title: `Forwarded connections: 8 readers at once, ${mib} MiB`,
      cases: readers,
      columns: [RATE, timesRate(readers[0]), timesRate(readers[1])],
    },
  };
}

function rdsshTables(
  { rdssh: { start, oneWay, bothWays } }: LoopbackCases,
  mib: number,
): Readonly<Record<'rdssh-start' | 'rdssh-one-way' | 'rdssh-both-ways', Table>> {
  const time: Column = { title: 'ms', figure: 'run_ms', digits: 0 };
  const [fresh, kept] = start;
  return {
    'rdssh-start': {
      title: 'A command that does nothing',
      cases: start,
      columns: [time, ...[fresh, kept].map((base) => ({ ...time, title: `× ${base.name}`, digits: 2, base }))],
    },
    'rdssh-one-way': {
      title: `To a command on a host, ${mib} MiB`,
      cases: oneWay,
      columns: [RATE, timesRate(oneWay[0]), timesRate(oneWay[1]), PROCESSOR],
    },
    'rdssh-both-ways': {
      title: `To a command on a host and back, ${mib} MiB`,
      cases: bothWays,
      columns: [RATE, timesRate(bothWays[0]), timesRate(bothWays[1]), PROCESSOR],
    },
  };
}

function copyTables(
  { copy: { file, tree, again, empty } }: LoopbackCases,
  mib: number,
): Readonly<Record<'copy-file' | 'copy-tree' | 'copy-again' | 'copy-empty', Table>> {
  const columns: Column[] = [
    WALL,
    { title: 'CPU s', figure: 'cpu_s', digits: 2 },
    { title: 'peak RSS of a native program, MiB', figure: 'native_rss_mib', digits: 0, brief: true },
  ];
  const times = (base: Case): Column => ({ ...WALL, title: `time ÷ ${base.name}`, digits: 2, base });
  return {
    'copy-file': {
      title: `Copy of a file to a host, ${mib} MiB`,
      cases: [file.rsync, file.scp, file.dd, file.pipe, file.rdcp],
      columns: [RATE, ...[file.rsync, file.scp, file.dd, file.pipe].map(timesRate), ...columns],
    },
    'copy-tree': {
      title: `Copy of ${smallFilesOf(mib).count} small files, to a host and on this machine`,
      cases: [tree.rsync, tree.tar, tree.tarPipe, tree.rclone, tree.rdcp, tree.cp, tree.fpsync, tree.local],
      columns: [...columns, ...[tree.rsync, tree.tar, tree.tarPipe, tree.rclone, tree.cp].map(times)],
    },
    'copy-again': {
      title: 'The same copy again, nothing changed',
      cases: [again.rsync, again.rdcp],
      columns: [...columns, times(again.rsync)],
    },
    'copy-empty': {
      title: `Copy of ${emptyFilesOf(mib)} empty files`,
      cases: [empty.rsync, empty.rdcp],
      columns: [...columns, times(empty.rsync)],
    },
  };
}

function fanOutTables(
  { fanOut: { oneHost, widths, whole, mended, many }, fanOutTools }: LoopbackCases,
  mib: number,
): Readonly<Record<'fan-out-width' | 'fan-out-loss' | 'fan-out-hosts' | 'fan-out-tools', Table>> {
  const streamMib = Math.ceil(mib / 2);
  const all: Column = { ...RATE, title: 'MB/s to all' };
  const processor: Column = { title: 'CPU s', figure: 'cpu_s', digits: 2 };
  const beside = (title: string, other: 'oneByOne' | 'tee'): Column => {
    return { ...RATE, title, digits: 2, base: new Map(widths.map((width) => [width.chain, width[other]])) };
  };
  const chains = new Map(widths.map(({ chain }) => [chain, oneHost]));
  const { udpcast, uftp, clush, taktuk, plain, encrypted } = fanOutTools;
  return {
    'fan-out-width': {
      title: `One stream of ${streamMib} MiB to many hosts`,
      cases: [oneHost, ...widths.flatMap(({ chain, oneByOne, tee }) => [chain, oneByOne, tee])],
      columns: [
        WALL,
        all,
        beside('× one after another', 'oneByOne'),
        beside('× tee', 'tee'),
        { title: 'of what the cores allow', figure: 'gib_per_core_s', digits: 2, base: chains },
        processor,
      ],
    },
    'fan-out-loss': {
      title: `A chain of ${WIDTH_MAX} hosts that loses one`,
      cases: [whole, mended],
      columns: [WALL, { ...WALL, title: '× without a loss', base: whole }, processor],
    },
    'fan-out-hosts': {
      title: 'A chain of 32 hosts',
      cases: many,
      columns: [WALL, { ...WALL, title: '× as many logins', base: many[0] }, all, processor],
    },
    'fan-out-tools': {
      title: `A file of ${streamMib} MiB to 8 hosts at one switch`,
      cases: [udpcast, uftp, clush, taktuk, plain, encrypted],
      columns: [WALL, ...[udpcast, uftp, clush, taktuk].map(timesRate), processor],
    },
  };
}

function timesRate(base: Case): Column {
  return { ...RATE, title: `× ${base.name}`, digits: 2, base };
}
