/** The table that `rdpipe bench` prints, and its figures. Pure. */
import type { Benchmark, MethodResult, Sample } from '../model/benchmark.ts';
import { type Spread, spreadOf } from '../model/statistics.ts';
import { printable } from '../model/text.ts';
import { formatRate } from '../model/units.ts';
import { formatMicroseconds, formatTable } from './format.ts';

/** The lines of the table, without newlines. */
export function benchLines(benchmark: Benchmark): readonly string[] {
  const { from, to, rounds, methods, missing } = benchmark;
  const head = ['', 'rate', 'lowest', 'highest', ...cpuHeads(benchmark), 'round trip', 'ping-pong', 'carried by'];
  return [
    printable(`${from}→${to}, medians of ${rounds} ${rounds === 1 ? 'round' : 'rounds'}`),
    ...(methods.length === 0
      ? []
      : formatTable([head, ...methods.map(methodCells)].map((cells) => cells.map(printable)))),
    ...missing.map(({ method, why }) => printable(`${method}: not measured: ${why}`)),
  ];
}

/** The heads of the two CPU columns. */
export function cpuHeads({ from, to }: Benchmark): readonly string[] {
  return [`CPU s/GiB ${from}`, `CPU s/GiB ${to}`];
}

/** The cells of a method's row, one for each head in `benchLines`. */
export function methodCells(result: MethodResult): readonly string[] {
  const { rate, fromCpu, toCpu, roundTripUs, pingPongUs } = figuresOf(result);
  const cpu = (spread: Spread | undefined) => (spread === undefined ? '' : spread.median.toFixed(2));
  return [
    result.method,
    ...[rate?.median, rate?.low, rate?.high].map((value) => (value === undefined ? '' : formatRate(value))),
    cpu(fromCpu),
    cpu(toCpu),
    roundTripUs === undefined ? '' : roundTripText(result, roundTripUs),
    pingPongUs === undefined ? '' : formatMicroseconds(pingPongUs),
    result.carrier,
  ];
}

export interface Figures {
  readonly rate: Spread | undefined;
  /** Seconds per GiB. */
  readonly fromCpu: Spread | undefined;
  readonly toCpu: Spread | undefined;
  readonly roundTripUs: number | undefined;
  readonly pingPongUs: number | undefined;
}

/** The figures of a method over all its samples; undefined: not measured. */
export function figuresOf({ samples }: MethodResult): Figures {
  const values = (read: (sample: Sample) => number | null) =>
    samples.flatMap((sample) => {
      const value = read(sample);
      return value === null ? [] : [value];
    });
  const perGib = (end: 'fromCpuS' | 'toCpuS') =>
    spreadOf(values((sample) => (sample[end] === null ? null : sample[end] / (sample.bytes / GIB))));
  return {
    rate: spreadOf(values(({ bytesPerSecond }) => bytesPerSecond)),
    fromCpu: perGib('fromCpuS'),
    toCpu: perGib('toCpuS'),
    roundTripUs: spreadOf(values((sample) => sample.roundTripUs))?.median,
    pingPongUs: spreadOf(values((sample) => sample.pingPongUs))?.median,
  };
}

const GIB = 1024 ** 3;

/** The round trip of ssh is a login, not a message. */
function roundTripText({ method }: MethodResult, microseconds: number): string {
  return method === 'ssh' ? `${formatMicroseconds(microseconds)} (login)` : formatMicroseconds(microseconds);
}
