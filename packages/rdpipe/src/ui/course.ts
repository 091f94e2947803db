/** A hop's history as lines over time: what it carried, and what it waited for, on average from sample to sample. Pure. */
import type { Line, Point } from './chart.ts';
import type { HopSample } from './history.ts';

/** Bytes a second. */
export function rateLine(samples: readonly HopSample[]): Line {
  return { name: 'rate', points: course(samples, ({ bytes }, seconds) => bytes / seconds) };
}

/** Percent of the time, stacked at most 100. */
export function waitLines(samples: readonly HopSample[]): readonly Line[] {
  const shareOf = (what: keyof Waits) => course(samples, (step, seconds) => shares(step, seconds)[what]);
  return [
    { name: 'input', points: shareOf('input') },
    { name: 'limit', points: shareOf('limit') },
    { name: 'network', points: shareOf('network') },
    { name: 'output', points: shareOf('output') },
  ];
}

interface Waits {
  readonly input: number;
  readonly limit: number;
  readonly network: number;
  readonly output: number;
}

type Step = Omit<HopSample, 'at'>;

/** A sender that waits for the wire while its receiver waits for its output waits for that output. */
function shares({ inputMs, limitMs, wireMs, outputMs }: Step, seconds: number): Waits {
  const percent = (milliseconds: number, room: number) => Math.min(Math.max(milliseconds / (seconds * 10), 0), room);
  const output = percent(outputMs, 100);
  const network = percent(wireMs - outputMs, 100 - output);
  const limit = percent(limitMs, 100 - output - network);
  return { input: percent(inputMs, 100 - output - network - limit), limit, network, output };
}

/** A point at the end of each step, and one where the first begins. Hosts tell the numbers: none may go back. */
function course(samples: readonly HopSample[], measure: (step: Step, seconds: number) => number): readonly Point[] {
  const points = samples.slice(1).flatMap((sample, index): readonly Point[] => {
    const before = samples[index] ?? sample;
    const seconds = sample.at - before.at;
    return seconds > 0 ? [[sample.at, measure(difference(before, sample), seconds)]] : [];
  });
  const [first] = points;
  return first === undefined ? [] : [[samples[0]?.at ?? 0, first[1]], ...points];
}

function difference(before: HopSample, after: HopSample): Step {
  const more = (what: keyof Step) => Math.max(0, after[what] - before[what]);
  return {
    bytes: more('bytes'),
    inputMs: more('inputMs'),
    limitMs: more('limitMs'),
    wireMs: more('wireMs'),
    outputMs: more('outputMs'),
  };
}
