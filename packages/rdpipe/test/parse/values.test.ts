import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import fc from 'fast-check';
import { UsageError } from '../../src/model/errors.ts';
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
  for (const [text, size, rate] of sizeCases()) {
    it(`reads ${JSON.stringify(text)} as ${size} bytes, ${rate} bytes a second, as the programs in C do`, () => {
      expect(unlessRefused(() => readSize(text))).to.equal(size);
      const limit = unlessRefused(() => readLimit(text));
      expect(limit).to.equal(rate === 0 ? -1 : rate); // a limit of nothing is none
    });
  }

  it('reads every whole number of bytes', () => {
    fc.assert(fc.property(fc.maxSafeNat(), (bytes) => readSize(String(bytes)) === bytes));
  });

  const REFUSED: readonly (readonly [string, (text: string) => unknown, string, string])[] = [
    ['size', readSize, '', "'' is not a size (write 8M, 8MiB or a number of bytes)"],
    ['size', readSize, '12X', "'12X' is not a size (write 8M, 8MiB or a number of bytes)"],
    ['size', readSize, '-1', "'-1' is not a size (write 8M, 8MiB or a number of bytes)"],
    ['size', readSize, '99999999P', "'99999999P' is too large a size"],
    ['buffer', readBuffer, '64K', "'64K' is not a usable buffer (64KiB to 1GiB)"],
    ['buffer', readBuffer, '2G', "'2G' is not a usable buffer (64KiB to 1GiB)"],
    ['compression', readCompress, 'zstd:', "'zstd:' is neither none nor zstd[:LEVEL] (1 to 19)"],
    ['compression', readCompress, 'zstd:0', "'zstd:0' is neither none nor zstd[:LEVEL] (1 to 19)"],
    ['compression', readCompress, 'zstd:20', "'zstd:20' is neither none nor zstd[:LEVEL] (1 to 19)"],
    ['compression', readCompress, '3', "'3' is neither none nor zstd[:LEVEL] (1 to 19)"],
    ['jobs', readJobs, '', "'' is not a number of threads (0 to 64)"],
    ['jobs', readJobs, '1.5', "'1.5' is not a number of threads (0 to 64)"],
    ['limit', readLimit, '0', "'0' is not a usable rate (1 B/s to 1 PiB/s, or none)"],
    ['limit', readLimit, '1.2P', "'1.2P' is not a usable rate (1 B/s to 1 PiB/s, or none)"],
    ['limit', readLimit, '10Mb', "'10Mb' is not a rate (write 200M, 200MiB/s, 1Gbit/s, or none)"],
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
    expect(readBuffer('64KiB')).to.equal(65536);
    expect(['none', 'zstd', 'zstd:1', 'zstd:19'].map(readCompress)).to.deep.equal([0, 1, 1, 19]);
    expect(['0', '8', '64'].map(readJobs)).to.deep.equal([0, 8, 64]);
    expect(['none', '1', '200M', '1PiB'].map(readLimit)).to.deep.equal([0, 1, 200e6, 1024 ** 5]);
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

/** What the suite in C checks, too: text, bytes, bytes a second; -1: refused. */
function sizeCases(): readonly (readonly [string, number, number])[] {
  const file = join(import.meta.dirname, '../../../rdcore-native/test/size_cases.h');
  const rows = readFileSync(file, 'utf8').matchAll(/^ {4}\{"(.*)", (-?\d+), (-?\d+)\},/gm);
  const cases = [...rows].map(([, text = '', size, rate]) => [text, Number(size), Number(rate)] as const);
  if (cases.length < 50) throw new Error(`only ${cases.length} cases in ${file}`);
  return cases;
}

function unlessRefused(read: () => number): number {
  try {
    return read();
  } catch (error) {
    if (error instanceof UsageError) return -1;
    throw error;
  }
}
