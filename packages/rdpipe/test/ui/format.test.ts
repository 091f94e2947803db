import { expect } from 'chai';
import { formatDuration, formatRate, formatTable } from '../../src/ui/format.ts';

describe('format', () => {
  const RATES: readonly (readonly [number, string])[] = [
    [0, '0.000 B/s'],
    [17, '17.00 B/s'],
    [999.9, '999.9 B/s'],
    [999.96, '1.000 kB/s'],
    [2_872_000_000, '2.872 GB/s'],
    [28_720_000, '28.72 MB/s'],
    [99_996_000, '100.0 MB/s'],
    [5e15, '5000.0 TB/s'],
  ];
  for (const [rate, text] of RATES) {
    it(`writes ${rate} bytes per second as ${text}`, () => {
      expect(formatRate(rate)).to.equal(text);
    });
  }

  const DURATIONS: readonly (readonly [number, string])[] = [
    [0, '0.0 s'],
    [0.44, '0.4 s'],
    [59.94, '59.9 s'],
    [59.96, '1:00'],
    [245, '4:05'],
    [3599.7, '1:00:00'],
    [3723, '1:02:03'],
    [360_000, '100:00:00'],
  ];
  for (const [seconds, text] of DURATIONS) {
    it(`writes ${seconds} seconds as ${text}`, () => {
      expect(formatDuration(seconds)).to.equal(text);
    });
  }

  it('aligns columns', () => {
    expect(
      formatTable([
        ['a', 'bb', 'c'],
        ['aaa', 'b', ''],
      ]),
    ).to.deep.equal(['a    bb  c', 'aaa  b']);
    expect(formatTable([])).to.deep.equal([]);
  });
});
