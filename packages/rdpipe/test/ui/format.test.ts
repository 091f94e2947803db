import { expect } from 'chai';
import { formatDuration, formatMicroseconds, formatTable } from '../../src/ui/format.ts';

describe('format', () => {
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

  const ROUND_TRIPS: readonly (readonly [number, string])[] = [
    [2, '2 µs'],
    [999, '999 µs'],
    [1000, '1.0 ms'],
    [99_940, '99.9 ms'],
    [150_000, '0.1 s'],
  ];
  for (const [microseconds, text] of ROUND_TRIPS) {
    it(`writes ${microseconds} microseconds as ${text}`, () => {
      expect(formatMicroseconds(microseconds)).to.equal(text);
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
