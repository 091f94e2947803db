import { expect } from 'chai';
import { createSamples } from '../../../src/ui/pages/samples.ts';

interface Sample {
  readonly at: number;
  readonly bytes: number;
}

describe('samples', () => {
  const filled = (count: number, secondsApart: number) => {
    const samples = createSamples<Sample>(600, 0.2);
    for (let index = 0; index < count; index += 1) samples.add({ at: index * secondsApart, bytes: index });
    return samples.all();
  };

  it('keeps every sample of a short course', () => {
    expect(filled(5, 0.25).map(({ bytes }) => bytes)).to.deep.equal([0, 1, 2, 3, 4]);
  });

  it('stays within its bound however long it continues, with the first and the newest', () => {
    for (const count of [600, 601, 602, 10_000, 1_000_000]) {
      const kept = filled(count, 0.25);
      expect(kept.length).to.be.within(300, 600);
      expect([kept[0]?.bytes, kept.at(-1)?.bytes]).to.deep.equal([0, count - 1]);
    }
  });

  it('keeps them in order, and about equally spaced', () => {
    const times = filled(100_000, 0.25).map(({ at }) => at);
    const gaps = times.slice(1).map((at, index) => at - (times[index] ?? 0));
    expect(Math.min(...gaps.slice(0, -1))).to.be.greaterThan(0);
    expect(Math.max(...gaps)).to.be.at.most(4 * Math.min(...gaps.slice(0, -1)));
  });

  it('skips samples that come too soon after another, and still has the newest', () => {
    expect(filled(101, 0.01).map(({ bytes }) => bytes)).to.satisfy((kept: number[]) => kept.length < 8);
    expect(filled(101, 0.01).at(-1)?.bytes).to.equal(100);
  });

  it('does not end with a step much shorter than the others', () => {
    const samples = createSamples<Sample>(600, 0.2);
    for (const at of [0, 0.25, 0.5, 0.501]) samples.add({ at, bytes: at });
    expect(samples.all().map(({ at }) => at)).to.deep.equal([0, 0.25, 0.501]);
  });
});
