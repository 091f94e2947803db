import { expect } from 'chai';
import { formatTick, timeInterval } from '../../../src/ui/pages/chart-axis.ts';

describe('chart-axis', () => {
  const TICKS: readonly (readonly [number, string, string])[] = [
    [0, 'B/s', '0 B/s'],
    [1500, 'B/s', '1.5 kB/s'],
    [2e9, 'B/s', '2 GB/s'],
    [64, 'B', '64 B'],
    [65_536, 'B', '64 KiB'],
    [1536, 'B', '1.5 KiB'],
    [1.25 * 1024 ** 3, 'B', '1.25 GiB'],
    [90, 'time', '1:30'],
    [0.1 + 0.2, 'time', '0.3 s'],
    [0.1 + 0.2, 'ms', '0.3 ms'],
    [40, '%', '40 %'],
    [1.5, '', '1.5'],
  ];
  for (const [value, unit, text] of TICKS) {
    it(`writes ${value} of ${unit || 'no unit'} as ${text}`, () => {
      expect(formatTick(value, unit)).to.equal(text);
    });
  }

  it('puts the ticks of a clock at whole seconds, minutes, hours and days, or parts of a few seconds', () => {
    expect([0.3, 1, 5, 10, 50, 3600, 100_000, 10_000_000].map(timeInterval)).to.deep.equal([
      0.05, 0.2, 1, 2, 10, 600, 14_400, 1_296_000,
    ]);
  });
});
