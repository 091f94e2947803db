import { expect } from 'chai';
import { formatBytes, formatLimit, formatMbps, formatRate } from '../../src/model/units.ts';

describe('rate', () => {
  const RATES: readonly (readonly [number, string])[] = [
    [0, '0 B/s'],
    [17, '17 B/s'],
    [999.4, '999 B/s'],
    [999.6, '1.000 kB/s'],
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

  it('writes a limit without superfluous zeros', () => {
    expect([200e6, 1.5e9, 500, 1e9, 209_715_200].map(formatLimit)).to.deep.equal([
      ...['200 MB/s', '1.5 GB/s', '500 B/s', '1 GB/s', '209.7 MB/s'],
    ]);
  });

  const LINKS: readonly (readonly [number, string])[] = [
    [100, '100 Mb/s'],
    [2500, '2.5 Gb/s'],
    [100_000, '100 Gb/s'],
  ];
  for (const [mbps, text] of LINKS) {
    it(`writes a link of ${mbps} megabits per second as ${text}`, () => {
      expect(formatMbps(mbps)).to.equal(text);
    });
  }
});

describe('formatBytes', () => {
  const cases: [number, string][] = [
    [0, '0 B'],
    [1023, '1023 B'],
    [1024, '1.0 KiB'],
    [1024 ** 2 - 1, '1.0 MiB'],
    [1024 ** 2, '1.0 MiB'],
    [41.2 * 1024 ** 3, '41.2 GiB'],
    [5000 * 1024 ** 5, '5000.0 PiB'],
  ];
  for (const [bytes, text] of cases) {
    it(`writes ${bytes} as ${text}`, () => expect(formatBytes(bytes)).to.equal(text));
  }
});
