import { expect } from 'chai';
import fc from 'fast-check';
import { NO_WAITS } from '../../../src/model/counters.ts';
import type { HopSample } from '../../../src/ui/pages/history.ts';
import { rateLines, waitLines } from '../../../src/ui/pages/time-series.ts';

function sample(at: number, changes: Partial<HopSample> = {}): HopSample {
  return { at, bytes: 0, wireBytes: 0, send: NO_WAITS, recv: NO_WAITS, ...changes };
}

describe('course', () => {
  it('is the rate from sample to sample, beginning with the first', () => {
    const samples = [sample(1), sample(2, { bytes: 500 }), sample(4, { bytes: 700 })];
    const points = [
      [1, 500],
      [2, 500],
      [4, 100],
    ];
    expect(rateLines(samples, false)).to.deep.equal([{ name: 'rate', points }]);
  });

  it('includes the rate on the wire if data is compressed', () => {
    const lines = rateLines([sample(1), sample(2, { bytes: 500, wireBytes: 200 })], true);
    expect(lines.map(({ name, points }) => [name, points.at(-1)?.[1]])).to.deep.equal([
      ['rate', 500],
      ['on the wire', 200],
    ]);
  });

  it('is the share of time of each wait; that for the wire without that for the output', () => {
    const send = { ...NO_WAITS, inputMs: 500, limitMs: 100, workerMs: 80, wireMs: 1000 };
    const samples = [sample(0), sample(2, { send, recv: { ...NO_WAITS, outputMs: 600 } })];
    const shares = waitLines(samples).map(({ name, points }) => [name, points.at(-1)?.[1]]);
    expect(shares).to.deep.equal([
      ['input', 25],
      ['rate limit', 5],
      ['compression, encryption', 4],
      ['network', 20],
      ['output', 30],
    ]);
  });

  it('is empty without two samples', () => {
    for (const samples of [[], [sample(1)]])
      expect(rateLines(samples, false)).to.deep.equal([{ name: 'rate', points: [] }]);
  });

  it('stays between 0 and 100 % whatever hosts report', () => {
    const count = fc.maxSafeNat();
    const waits = fc.record({ inputMs: count, limitMs: count, workerMs: count, wireMs: count, outputMs: count });
    const any = fc.record({ at: fc.nat(100), bytes: count, wireBytes: count, send: waits, recv: waits });
    fc.assert(
      fc.property(fc.array(any), (samples) => {
        const lines = waitLines([...samples].sort((one, other) => one.at - other.at));
        for (const { points } of lines) for (const [, y] of points) expect(y).to.be.within(0, 100);
        lines[0]?.points.forEach((_, index) => {
          const sum = lines.reduce((all, { points }) => all + (points[index]?.[1] ?? 0), 0);
          expect(sum).to.be.at.most(100.001);
        });
        for (const { points } of rateLines(samples, true)) for (const [, y] of points) expect(y).to.be.at.least(0);
      }),
    );
  });
});
