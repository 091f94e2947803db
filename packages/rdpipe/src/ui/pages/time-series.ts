/** A hop's history as lines over time: rate, and percentages of waits. Pure. */

import { hopWaits, type Waits, waitsSince } from '../../model/counters.ts';
import { rateUnit } from '../../model/units.ts';
import type { Line, Point } from './chart.ts';
import type { HopSample } from './history.ts';

/** Bytes per second; if compressed, also those on the wire. */
export function rateLines(samples: readonly HopSample[], compressed: boolean): readonly Line[] {
  const rateOf = (what: 'bytes' | 'wireBytes') => timeSeries(samples, (step, seconds) => step[what] / seconds);
  const stream = { name: 'rate', points: rateOf('bytes') };
  return compressed ? [stream, { name: 'on the wire', points: rateOf('wireBytes') }] : [stream];
}

/** Lines of bytes per second in the unit that suits them, which the tables next to them have. */
export function inRateUnit(lines: readonly Line[]): { readonly unit: string; readonly lines: readonly Line[] } {
  const highest = Math.max(0, ...lines.flatMap(({ points }) => points.map(([, rate]) => rate ?? 0)));
  const { unit, bytesPerSecond } = rateUnit(highest);
  const scaled = ([at, rate]: Point): Point => [at, rate === null ? null : rate / bytesPerSecond];
  return { unit, lines: lines.map(({ name, points }) => ({ name, points: points.map(scaled) })) };
}

/** Percentages of the time, together at most 100. */
export function waitLines(samples: readonly HopSample[]): readonly Line[] {
  const shareOf = (what: keyof Shares) => timeSeries(samples, (step, seconds) => shares(step, seconds)[what]);
  return [
    { name: 'input', points: shareOf('input') },
    { name: 'rate limit', points: shareOf('limit') },
    { name: 'compression, encryption', points: shareOf('workers') },
    { name: 'network', points: shareOf('network') },
    { name: 'output', points: shareOf('output') },
  ];
}

interface Shares {
  readonly input: number;
  readonly limit: number;
  readonly workers: number;
  readonly network: number;
  readonly output: number;
}

/** The differences between two samples. */
interface Step {
  readonly bytes: number;
  readonly wireBytes: number;
  readonly waits: Waits;
}

function shares({ waits }: Step, seconds: number): Shares {
  const percent = (milliseconds: number, room: number) => Math.min(Math.max(milliseconds / (seconds * 10), 0), room);
  const output = percent(waits.outputMs, 100);
  const network = percent(waits.wireMs, 100 - output);
  const workers = percent(waits.workerMs, 100 - output - network);
  const limit = percent(waits.limitMs, 100 - output - network - workers);
  return { input: percent(waits.inputMs, 100 - output - network - workers - limit), limit, workers, network, output };
}

/** A point at the end of each step, and one at the beginning of the first. */
function timeSeries(samples: readonly HopSample[], measure: (step: Step, seconds: number) => number): readonly Point[] {
  const points = samples.slice(1).flatMap((sample, index): readonly Point[] => {
    const before = samples[index] ?? sample;
    const seconds = sample.at - before.at;
    return seconds > 0 ? [[sample.at, measure(difference(before, sample), seconds)]] : [];
  });
  const [first] = points;
  return first === undefined ? [] : [[samples[0]?.at ?? 0, first[1]], ...points];
}

function difference(before: HopSample, after: HopSample): Step {
  const more = (what: 'bytes' | 'wireBytes') => Math.max(0, after[what] - before[what]);
  const waits = hopWaits(waitsSince(before.send, after.send), waitsSince(before.recv, after.recv));
  return { bytes: more('bytes'), wireBytes: more('wireBytes'), waits };
}
