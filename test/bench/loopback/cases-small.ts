// SPDX-License-Identifier: Apache-2.0
// Small writes: the latency of lines, one per millisecond, and the rate of blocks of several sizes.
import { type Case, MIB } from '../case.ts';
import { program } from '../programs/programs.ts';
import { ofLines, ofWrites } from '../readings.ts';
import { movedBy } from './cases-pipe.ts';
import type { Setup } from './setup.ts';
import {
  BARE_PIPE,
  type Carrier,
  encrypted,
  MBUFFER,
  NC,
  ours,
  plain,
  SOCAT,
  SSH_128,
  TUNED_MBUFFER,
} from './two-ends.ts';

/** The least number of lines, one per millisecond. */
const LINES_MIN = 500;
const SMALLEST = 64;
const SIZES = [SMALLEST, 512, 4096, 32 * 1024, 256 * 1024, MIB];
const WRITES_A_MIB = 1024;

export interface WriteCase {
  readonly one: Case;
  readonly carrier: string;
  readonly size: number;
}

export interface SmallCases {
  readonly lines: readonly [Case, ...Case[]];
  /** Cases of the smallest size, the bare pipe first. */
  readonly writes: readonly [Case, ...Case[]];
  /** Cases of all sizes, including the smallest. */
  readonly sizes: readonly WriteCase[];
}

export function smallCases({ mib, builds }: Setup): SmallCases {
  const count = Math.max(LINES_MIN, mib);
  const writes = (carrier: Carrier, size = SMALLEST) => writesOf(carrier, size, mib);
  const [bare, ...others] = [BARE_PIPE, NC, SOCAT, MBUFFER, TUNED_MBUFFER, SSH_128].map((one) => writes(one));
  if (bare === undefined) throw new Error('there is no bare pipe');
  const all = [bare, ...others, ...builds.map((build) => writes(plain(build)))] as const;
  const larger = [NC, TUNED_MBUFFER, ...builds.map(plain)].flatMap((carrier) =>
    SIZES.map((size) => ({
      carrier: carrier.name,
      size,
      one: size === SMALLEST ? caseOf(all, carrier) : writes(carrier, size),
    })),
  );
  const polling = builds.map((build) => ours('rdsend --poll', build, '--encrypt never --poll'));
  const carriers = [NC, SOCAT, SSH_128, ...builds.map(plain), ...builds.map(encrypted), ...polling];
  return {
    lines: [linesBy(BARE_PIPE, count), ...carriers.map((carrier) => linesBy(carrier, count))],
    writes: all,
    sizes: larger,
  };
}

function linesBy({ name, parts }: Carrier, count: number): Case {
  const lines = program('lines');
  return {
    name: `${name}, lines`,
    before: 'rm -f $MARK',
    parts: parts(`${lines} write $MARK ${count}`, `${lines} read $MARK`),
    read: ([said = '']) => ofLines(said, count),
  };
}

/** Moves at most half the amount of other runs. */
function writesOf(carrier: Carrier, size: number, mib: number): Case {
  const count = Math.ceil(Math.min(mib * WRITES_A_MIB, (mib * MIB) / 2 / size));
  const bytes = count * size;
  const moved = movedBy(carrier, `${program('writes')} ${size} ${count}`, bytes);
  return { ...moved, name: `${carrier.name}, ${sizeInWords(size)}`, read: (said) => ofWrites(said.join(''), bytes) };
}

function caseOf(cases: readonly Case[], carrier: Carrier): Case {
  const found = cases.find(({ name }) => name === `${carrier.name}, ${sizeInWords(SMALLEST)}`);
  if (found === undefined) throw new Error(`${carrier.name} does not write the smallest size`);
  return found;
}

function sizeInWords(size: number): string {
  return size < 1024 ? `${size} B` : size < MIB ? `${size / 1024} KiB` : `${size / MIB} MiB`;
}
