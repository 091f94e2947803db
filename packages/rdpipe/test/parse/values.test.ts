import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import fc from 'fast-check';
import { UsageError } from '../../src/model/errors.ts';
import { OPTIONS, type OptionName } from '../../src/model/options.ts';
import { readValue } from '../../src/parse/values.ts';
import { usageErrorOf } from './helpers.ts';

const read = (name: OptionName, text: string) => readValue(OPTIONS[name], text);
const readAll = (name: OptionName, ...texts: readonly string[]) => texts.map((text) => read(name, text));

describe('values', () => {
  for (const [text, size, rate] of sizeCases()) {
    it(`reads ${JSON.stringify(text)} as ${size} bytes, ${rate} bytes per second, as the C programs do`, () => {
      expect(unlessRefused(() => read('sizeBytes', text))).to.equal(size);
      const limit = unlessRefused(() => read('limitBytesPerS', text));
      expect(limit).to.equal(rate === 0 ? -1 : rate); // 0 is not a valid limit
    });
  }

  it('reads every whole number of bytes', () => {
    fc.assert(fc.property(fc.maxSafeNat(), (bytes) => read('sizeBytes', String(bytes)) === bytes));
  });

  const REFUSED: readonly (readonly [OptionName, string, string])[] = [
    ['sizeBytes', '', "'' is not a size (write 8M, 8MiB or a number of bytes)"],
    ['sizeBytes', '12X', "'12X' is not a size (write 8M, 8MiB or a number of bytes)"],
    ['sizeBytes', '-1', "'-1' is not a size (write 8M, 8MiB or a number of bytes)"],
    ['sizeBytes', '99999999P', "'99999999P' is too large a size"],
    ['bufferBytes', '64K', "'64K' is out of range (64KiB to 1GiB)"],
    ['bufferBytes', '2G', "'2G' is out of range (64KiB to 1GiB)"],
    ['compressLevel', 'zstd:', "'zstd:' is neither none nor zstd[:LEVEL] (1 to 19)"],
    ['compressLevel', 'zstd:0', "'zstd:0' is neither none nor zstd[:LEVEL] (1 to 19)"],
    ['compressLevel', 'zstd:20', "'zstd:20' is neither none nor zstd[:LEVEL] (1 to 19)"],
    ['compressLevel', '3', "'3' is neither none nor zstd[:LEVEL] (1 to 19)"],
    ['jobs', '', "'' is not a number of threads (0 to 64)"],
    ['jobs', '1.5', "'1.5' is not a number of threads (0 to 64)"],
    ['limitBytesPerS', '0', "'0' is not a usable rate (1 B/s to 1 PiB/s, or none)"],
    ['limitBytesPerS', '1.2P', "'1.2P' is not a usable rate (1 B/s to 1 PiB/s, or none)"],
    ['limitBytesPerS', '10Mb', "'10Mb' is not a rate (write 200M, 200MiB/s, 1Gbit/s, or none)"],
    ['timeoutMs', '0', "'0' is not a number of seconds (more than 0, at most 2000000)"],
    ['timeoutMs', '1e3', "'1e3' is not a number of seconds (more than 0, at most 2000000)"],
    ['timeoutMs', '2000001', "'2000001' is not a number of seconds (more than 0, at most 2000000)"],
    ['stallTimeoutMs', '1.9', "'1.9' is too short (at least 2 seconds)"],
    ['ports', '0', "'0' is not a port or a range of ports (1 to 65535, 7000-7010)"],
    ['ports', '65536', "'65536' is not a port or a range of ports (1 to 65535, 7000-7010)"],
    ['ports', '1-', "'1-' is not a port or a range of ports (1 to 65535, 7000-7010)"],
    ['ports', '7010-7000', "'7010-7000' is a range of ports that ends before it begins"],
    ['ok', '1,', "'' is not an exit status (0 to 255; several: 1,2)"],
    ['ok', '256', "'256' is not an exit status (0 to 255; several: 1,2)"],
    ['hostname', '', 'the address is empty'],
    ['hostname', 'a b', "'a b' is not an address or host name"],
    ['hostname', '-x', "'-x' is not an address or host name"],
    ['data', '10.0.0.1,', 'the address is empty'],
    ['data', '10.0.0.1,10.0.0.1', "'10.0.0.1,10.0.0.1' has an address twice"],
    ['data', '1,2,3,4,5,6,7,8,9', "'1,2,3,4,5,6,7,8,9' has more than 8 addresses"],
    ['streams', '0', "'0' is neither auto nor a number of connections (1 to 16)"],
    ['streams', '17', "'17' is neither auto nor a number of connections (1 to 16)"],
    ['sshProgram', 'a\nb', 'the path contains a control character'],
    ['numa', 'c', "'c' is not one of: auto, off"],
    ['rounds', '0', "'0' is not a number of rounds (1 to 1000)"],
    ['persistS', '0.5', "'0.5' is not a whole number of seconds (0 for none, at most 2000000)"],
    ['ok', '0=1', "'0' is not the number of a stage"],
  ];
  for (const [name, text, message] of REFUSED) {
    it(`refuses ${JSON.stringify(text)} as ${name}`, () => {
      expect(usageErrorOf(() => read(name, text)).message).to.equal(message);
    });
  }

  it('reads the rest', () => {
    expect(readAll('bufferBytes', '64KiB', '1GiB')).to.deep.equal([65536, 1024 ** 3]);
    expect(readAll('compressLevel', 'none', 'zstd', 'zstd:1', 'zstd:19')).to.deep.equal([0, 1, 1, 19]);
    expect(readAll('jobs', '0', '8', '64')).to.deep.equal([0, 8, 64]);
    expect(readAll('limitBytesPerS', 'none', '1', '200M', '1PiB')).to.deep.equal([0, 1, 200e6, 1024 ** 5]);
    expect(readAll('timeoutMs', '0.5', '10')).to.deep.equal([500, 10_000]);
    expect(read('stallTimeoutMs', '2')).to.equal(2000);
    expect(readAll('ports', '7000', '7000-7010')).to.deep.equal([
      [7000, 7000],
      [7000, 7010],
    ]);
    expect(readAll('ok', '0,1,255', '2=3')).to.deep.equal([
      { stage: undefined, statuses: [0, 1, 255] },
      { stage: 2, statuses: [3] },
    ]);
    expect(readAll('hostname', '[fe80::1%eth0]', 'ib-h1.example')).to.deep.equal(['fe80::1%eth0', 'ib-h1.example']);
  });
});

/** The cases of the C suite: text, bytes, bytes per second; -1: rejected. */
function sizeCases(): readonly (readonly [string, number, number])[] {
  const file = fileURLToPath(new URL('../../../rdbase-native/test/size_cases.h', import.meta.url));
  const rows = readFileSync(file, 'utf8').matchAll(/^ {4}\{"(.*)", (-?\d+), (-?\d+)\},/gm);
  const cases = [...rows].map(([, text = '', size, rate]) => [text, Number(size), Number(rate)] as const);
  if (cases.length < 50) throw new Error(`only ${cases.length} cases in ${file}`);
  return cases;
}

function unlessRefused(give: () => unknown): unknown {
  try {
    return give();
  } catch (error) {
    if (error instanceof UsageError) return -1;
    throw error;
  }
}
