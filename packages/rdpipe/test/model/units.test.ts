import { expect } from 'chai';
import { formatBytes, formatLimit, formatMbps, formatRate, rateUnit } from '../../src/model/units.ts';

describe('rate', () => {
  const RATES: readonly (readonly [number, string])[] = [
    [0, '0 B/s'],
    [17, '17 B/s'],
    [1023.4, '1023 B/s'],
    [1023.6, '1.000 KiB/s'],
    [2_872_000_000, '2.675 GiB/s'],
    [28_720_000, '27.39 MiB/s'],
    [99.996 * 1024 ** 2, '100.0 MiB/s'],
    [1023.96 * 1024 ** 2, '1.000 GiB/s'],
    [5000 * 1024 ** 5, '5000.0 PiB/s'],
  ];
  for (const [rate, text] of RATES) {
    it(`writes ${rate} bytes per second as ${text}`, () => {
      expect(formatRate(rate)).to.equal(text);
    });
  }

  it('has the same unit as a size', () => {
    for (const power of [1, 2, 3, 4, 5])
      expect(`${formatBytes(5 * 1024 ** power)}/s`.replace('.0', '.000')).to.equal(formatRate(5 * 1024 ** power));
  });

  it('writes a limit in the units in which the user wrote it', () => {
    expect([200e6, 1.5e9, 500, 1e9, 209_715_200, 1.5 * 1024 ** 3, 8192].map(formatLimit)).to.deep.equal([
      ...['200 MB/s', '1.5 GB/s', '500 B/s', '1 GB/s', '200 MiB/s', '1.5 GiB/s', '8 KiB/s'],
    ]);
  });

  it('names the unit of a plot of rates', () => {
    expect(rateUnit(0)).to.deep.equal({ unit: 'B/s', bytesPerSecond: 1 });
    expect(rateUnit(3e9)).to.deep.equal({ unit: 'GiB/s', bytesPerSecond: 1024 ** 3 });
  });

  const LINKS: readonly (readonly [number, string])[] = [
    [100, '100 Mb/s'],
    [2500, '2.5 Gb/s'],
    [100_000, '100 Gb/s'],
    [8968.4, '8.968 Gb/s'],
    [93.456, '93.46 Mb/s'],
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
