import { expect } from 'chai';
import fc from 'fast-check';
import {
  readAddress,
  readBuffer,
  readChoice,
  readCompress,
  readJobs,
  readLimit,
  readPlain,
  readPorts,
  readSeconds,
  readSize,
  readStallTimeout,
  readStatuses,
} from '../../src/parse/values.ts';
import { usageErrorOf } from './helpers.ts';

describe('values', () => {
  const SIZES: readonly (readonly [string, number])[] = [
    ['0', 0],
    ['4096', 4096],
    ['4096B', 4096],
    ['8M', 8 * 1024 ** 2],
    ['8m', 8 * 1024 ** 2],
    ['8MiB', 8 * 1024 ** 2],
    ['8MB', 8_000_000],
    ['1.5G', 1.5 * 1024 ** 3],
    ['2 T', 2 * 1024 ** 4],
    ['64K', 65536],
  ];
  for (const [text, bytes] of SIZES) {
    it(`reads ${text} as ${bytes} bytes`, () => {
      expect(readSize(text)).to.equal(bytes);
    });
  }

  it('reads every whole number of bytes', () => {
    fc.assert(fc.property(fc.maxSafeNat(), (bytes) => readSize(String(bytes)) === bytes));
  });

  const REFUSED: readonly (readonly [string, (text: string) => unknown, string, string])[] = [
    ['size', readSize, '', "'' is not a size (write 8M, 1.5G or a number of bytes)"],
    ['size', readSize, '12X', "'12X' is not a size (write 8M, 1.5G or a number of bytes)"],
    ['size', readSize, '-1', "'-1' is not a size (write 8M, 1.5G or a number of bytes)"],
    ['size', readSize, '99999999P', "'99999999P' is too large a size"],
    ['buffer', readBuffer, '63K', "'63K' is not a usable buffer (64K to 1G)"],
    ['buffer', readBuffer, '2G', "'2G' is not a usable buffer (64K to 1G)"],
    ['compression', readCompress, 'zstd:', "'zstd:' is neither none nor zstd[:LEVEL] (1 to 19)"],
    ['compression', readCompress, 'zstd:0', "'zstd:0' is neither none nor zstd[:LEVEL] (1 to 19)"],
    ['compression', readCompress, 'zstd:20', "'zstd:20' is neither none nor zstd[:LEVEL] (1 to 19)"],
    ['compression', readCompress, '3', "'3' is neither none nor zstd[:LEVEL] (1 to 19)"],
    ['jobs', readJobs, '', "'' is not a number of threads (0 to 64)"],
    ['jobs', readJobs, '1.5', "'1.5' is not a number of threads (0 to 64)"],
    ['limit', readLimit, '0', "'0' is not a usable rate (1 to 1P bytes a second, or none)"],
    ['limit', readLimit, '1025T', "'1025T' is not a usable rate (1 to 1P bytes a second, or none)"],
    ['limit', readLimit, '1/s', "'1/s' is not a size (write 8M, 1.5G or a number of bytes)"],
    ['seconds', readSeconds, '0', "'0' is not a number of seconds (more than 0, at most 2000000)"],
    ['seconds', readSeconds, '1e3', "'1e3' is not a number of seconds (more than 0, at most 2000000)"],
    ['seconds', readSeconds, '2000001', "'2000001' is not a number of seconds (more than 0, at most 2000000)"],
    ['stall timeout', readStallTimeout, '1.9', "'1.9' is too short (2 seconds at least)"],
    ['ports', readPorts, '0', "'0' is not a port or a range of ports (1 to 65535, 7000-7010)"],
    ['ports', readPorts, '65536', "'65536' is not a port or a range of ports (1 to 65535, 7000-7010)"],
    ['ports', readPorts, '1-', "'1-' is not a port or a range of ports (1 to 65535, 7000-7010)"],
    ['ports', readPorts, '7010-7000', "'7010-7000' is a range of ports that ends before it begins"],
    ['statuses', readStatuses, '1,', "'' is not an exit status (0 to 255; several: 1,2)"],
    ['statuses', readStatuses, '256', "'256' is not an exit status (0 to 255; several: 1,2)"],
    ['address', readAddress, '', 'the address is empty'],
    ['address', readAddress, 'a b', "'a b' is not an address or host name"],
    ['address', readAddress, '-x', "'-x' is not an address or host name"],
    ['plain text', (text) => readPlain('path', text), 'a\nb', 'the path contains a control character'],
    ['choice', (text) => readChoice(['a', 'b'], text), 'c', "'c' is none of a, b"],
  ];
  for (const [what, read, text, message] of REFUSED) {
    it(`refuses ${JSON.stringify(text)} as ${what}`, () => {
      expect(usageErrorOf(() => read(text)).message).to.equal(message);
    });
  }

  it('reads the rest', () => {
    expect(readBuffer('64K')).to.equal(65536);
    expect(['none', 'zstd', 'zstd:1', 'zstd:19'].map(readCompress)).to.deep.equal([0, 1, 1, 19]);
    expect(['0', '8', '64'].map(readJobs)).to.deep.equal([0, 8, 64]);
    expect(['none', '1', '200M', '1P'].map(readLimit)).to.deep.equal([0, 1, 200 * 1024 ** 2, 1024 ** 5]);
    expect(readSeconds('0.5')).to.equal(500);
    expect(readSeconds('10')).to.equal(10_000);
    expect(readStallTimeout('2')).to.equal(2000);
    expect(readPorts('7000')).to.deep.equal([7000, 7000]);
    expect(readPorts('7000-7010')).to.deep.equal([7000, 7010]);
    expect(readStatuses('0,1,255')).to.deep.equal([0, 1, 255]);
    expect(readAddress('[fe80::1%eth0]')).to.equal('fe80::1%eth0');
    expect(readAddress('ib-h1.example')).to.equal('ib-h1.example');
  });
});
