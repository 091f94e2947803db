/** The table that `rdpipe bench` prints, and its figures. Pure. */
import type { Benchmark, MethodResult, Sample } from '../model/benchmark.ts';
import { type Spread, spreadOf } from '../model/statistics.ts';
import { printable } from '../model/text.ts';
import { formatRate } from '../model/units.ts';
import { fittingColumns, tableOf, UNLIMITED, wrap } from './columns.ts';
import { formatMicroseconds } from './format.ts';

/** The lines of the table, without newlines, at most `columns` wide. */
export function benchLines(benchmark: Benchmark, columns = UNLIMITED): readonly string[] {
  const { from, to, rounds, methods, missing } = benchmark;
  const prose = missing.map(({ method, why }) => `${method}: not measured: ${why}`);
  return [
    ...wrap(printable(`${from}→${to}, medians of ${rounds} ${rounds === 1 ? 'round' : 'rounds'}`), columns),
    ...(methods.length === 0 ? [] : tableLines(benchmark, columns)),
    ...prose.flatMap((line) => wrap(printable(line), columns)),
  ];
}

/** The ranks of the columns: what matters least is left out on a narrow terminal. */
const RANKS = [0, 0, 4, 4, 3, 3, 1, 2, 5];

function tableLines(benchmark: Benchmark, columns: number): readonly string[] {
  const rows = [benchHeads(benchmark), ...benchmark.methods.map(methodCells)];
  const table = RANKS.map((rank, column) => ({ rank, cells: rows.map((cells) => printable(cells[column] ?? '')) }));
  const shown = fittingColumns(table, columns);
  const missing = table.filter(
    (column) => !shown.includes(column) && column.cells.slice(1).some((cell) => cell !== ''),
  );
  const note = `not shown on ${columns} columns: ${missing.map(({ cells: [head] }) => head).join(', ')}`;
  return [...tableOf(shown), ...(missing.length === 0 ? [] : wrap(note, columns))];
}

/** The heads of the columns in `methodCells`; the first is empty. */
export function benchHeads({ from, to }: Benchmark): readonly string[] {
  const cpu = [`CPU s/GiB ${from}`, `CPU s/GiB ${to}`];
  return ['', 'rate', 'lowest', 'highest', ...cpu, 'round trip', 'ping-pong', 'carried by'];
}

/** The cells of a method's row, one for each head in `benchHeads`. */
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
