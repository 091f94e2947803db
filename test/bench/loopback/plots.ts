// SPDX-License-Identifier: Apache-2.0
// Creates the plots of docs/benchmarks.md and docs/notes/benchmarks.md.
import { type Bar, barChart, type Line, xyChart } from '../../../packages/rdpipe/src/ui/pages/chart.ts';
import type { Case } from '../case.ts';
import { type Figure, type Spread, spreadOf } from '../figures.ts';
import type { Results } from '../rounds.ts';
import type { Plot } from '../summary.ts';
import type { LoopbackCases } from './cases.ts';

export function loopbackPlots(cases: LoopbackCases, results: Results): readonly Plot[] {
  return [
    { file: 'throughput.svg', about: 'throughput by case and tool', svg: throughput(cases, results) },
    { file: 'start.svg', about: 'start-up against the number of hosts', svg: start(cases, results) },
    { file: 'sizes.svg', about: 'throughput against the size of writes', svg: sizes(cases, results) },
  ];
}

/** Compares the encrypted cases with ssh and aes256-gcm, the others with ssh and aes128-gcm. */
function throughput({ pipe, toNull, file, compressed }: LoopbackCases, results: Results): string {
  const groups = ['pipe to pipe', 'file to /dev/null', 'file to file', 'encrypted pipe to pipe', 'compressed text'];
  const series: readonly (readonly [name: string, ...cases: (Case | undefined)[]])[] = [
    ['nc', pipe.nc],
    ['mbuffer -s 1M -m 64M', pipe.tunedMbuffer],
    ['ssh', pipe.ssh128, undefined, undefined, pipe.ssh256],
    ['iperf3', undefined, toNull.iperf],
    ['cp', undefined, undefined, file.cp],
    ['zstd -1', undefined, undefined, undefined, undefined, compressed.zstd],
    ['rdsend, rdrecv', pipe.plain[0], toNull.plain[0], file.cached[0], pipe.encrypted[0], compressed.oneJob[0]],
  ];
  return barChart({
    title: 'Throughput by case and tool',
    width: 960,
    y: { title: '', unit: 'B/s' },
    groups,
    series: series.map(([name, ...row]) => ({ name, bars: groups.map((_, group) => bar(row[group], results)) })),
  });
}

function start({ start }: LoopbackCases, results: Results): string {
  const line = (name: string, figure: Figure, of: (one: (typeof start)[number]) => Case): Line => ({
    name,
    points: start.map((one) => [one.stages, spread(of(one), figure, results)?.median ?? null]),
  });
  return xyChart({
    title: 'Start-up against the number of hosts',
    x: { title: 'hosts', unit: '' },
    y: { title: '', unit: 's' },
    lines: [
      line('ssh HOST true, 8 at a time', 'wall_s', ({ ssh }) => ssh),
      line('echo hi | rdpipe HOST:cat …', 'wall_s', ({ rdpipe }) => rdpipe),
      line('first byte of a stream', 'first_byte_s', ({ stream }) => stream),
    ],
  });
}

function sizes({ small }: LoopbackCases, results: Results): string {
  const carriers = [...new Set(small.sizes.map(({ carrier }) => carrier))];
  return xyChart({
    title: 'Throughput against the size of writes',
    x: { title: 'a write', unit: 'B', logarithmic: true },
    y: { title: '', unit: 'B/s', logarithmic: true },
    lines: carriers.map((name) => ({
      name,
      points: small.sizes
        .filter(({ carrier }) => carrier === name)
        .map(({ size, one }) => [size, bar(one, results)?.value ?? null]),
    })),
  });
}

function bar(one: Case | undefined, results: Results): Bar | undefined {
  const rate = one && spread(one, 'mb_per_s', results);
  return rate && { value: rate.median * 1e6, low: rate.least * 1e6, high: rate.most * 1e6 };
}

/** Returns undefined if the case was not run. */
function spread(one: Case, figure: Figure, results: Results): Spread | undefined {
  const numbers = (results.get(one) ?? []).flatMap((figures) => figures[figure] ?? []);
  return numbers.length === 0 ? undefined : spreadOf(numbers);
}
