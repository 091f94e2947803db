import { expect } from 'chai';
import { formatBytes } from '../../src/model/bytes.ts';

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
