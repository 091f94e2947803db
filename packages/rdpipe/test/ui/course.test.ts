import { expect } from 'chai';
import fc from 'fast-check';
import { rateLine, waitLines } from '../../src/ui/course.ts';
import type { HopSample } from '../../src/ui/history.ts';

function sample(at: number, changes: Partial<HopSample> = {}): HopSample {
  return { at, bytes: 0, inputMs: 0, limitMs: 0, wireMs: 0, outputMs: 0, ...changes };
}

describe('course', () => {
  it('is the rate from sample to sample, beginning where the first one does', () => {
    const samples = [sample(1), sample(2, { bytes: 500 }), sample(4, { bytes: 700 })];
    expect(rateLine(samples).points).to.deep.equal([
      [1, 500],
      [2, 500],
      [4, 100],
    ]);
  });

  it('is what was waited for, as a share of the time; the wire only where the output is not meant', () => {
    const samples = [sample(0), sample(2, { inputMs: 500, limitMs: 100, wireMs: 1000, outputMs: 600 })];
    const shares = waitLines(samples).map(({ name, points }) => [name, points.at(-1)?.[1]]);
    expect(shares).to.deep.equal([
      ['input', 25],
      ['limit', 5],
      ['network', 20],
      ['output', 30],
    ]);
  });

  it('is nothing without two samples', () => {
    expect(rateLine([]).points).to.deep.equal([]);
    expect(rateLine([sample(1)]).points).to.deep.equal([]);
  });

  it('stays between 0 and 100 % whatever hosts say', () => {
    const count = fc.maxSafeNat();
    const any = fc.record({
      at: fc.nat(100),
      bytes: count,
      inputMs: count,
      limitMs: count,
      wireMs: count,
      outputMs: count,
    });
    fc.assert(
      fc.property(fc.array(any), (samples) => {
        const lines = waitLines([...samples].sort((one, other) => one.at - other.at));
        for (const { points } of lines) for (const [, y] of points) expect(y).to.be.within(0, 100);
        lines[0]?.points.forEach((_, index) => {
          const sum = lines.reduce((all, { points }) => all + (points[index]?.[1] ?? 0), 0);
          expect(sum).to.be.at.most(100.001);
        });
        for (const [, y] of rateLine(samples).points) expect(y).to.be.at.least(0);
      }),
    );
  });
});
