// SPDX-License-Identifier: Apache-2.0
// Streams of many sizes through rdsend and rdrecv; test/full has the long ones.
import { useBench } from '../support/programs.ts';
import { copyThroughPipes } from './through-pipes.ts';

const KIB = 1024;
const MIB = 1024 * KIB;

describe('rdsend and rdrecv carry every size', () => {
  const bench = useBench();
  const carry = (size: number, ...options: string[]) => copyThroughPipes(bench, size, options);

  for (const size of [0, 1, 64 * KIB - 1, 64 * KIB, 64 * KIB + 1, MIB - 1, MIB, MIB + 1, 5 * MIB + 12_345])
    it(`${size} bytes through pipes`, () => carry(size));

  it('40 MiB through pipes', () => carry(40 * MIB));
  it('40 MiB authenticated', () => carry(40 * MIB, '--encrypt', 'auth'));
  it('40 MiB encrypted', () => carry(40 * MIB, '--encrypt', 'always'));
  it('20 MiB through the smallest window', () => carry(20 * MIB, '--buffer', '64KiB'));
  it('20 MiB without ever sleeping', () => carry(20 * MIB, '--poll'));
  it('20 MiB encrypted through a window of odd size', () =>
    carry(20 * MIB, '--buffer', '777777', '--encrypt', 'always'));
  it('20 MiB authenticated through a window of odd size', () =>
    carry(20 * MIB, '--buffer', '777777', '--encrypt', 'auth'));
});
