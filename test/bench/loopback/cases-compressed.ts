// SPDX-License-Identifier: Apache-2.0
// Text that hops compress with zstd level 1, compared with the program zstd; random bytes.
import { type Case, type Goal, MIB, nothing } from '../case.ts';
import { type FileRun, fileToNull } from './cases-null.ts';
import { here, type Setup } from './setup.ts';

const ZSTD = '--compress zstd:1';

export interface CompressedCases {
  /** zstd with one worker; with two workers and decompression; only decompression. */
  readonly zstd: Case;
  readonly both: Case;
  readonly unpack: Case;
  readonly oneJob: readonly Case[];
  readonly twoJobs: readonly Case[];
  readonly encrypted: readonly Case[];
  readonly random: readonly Case[];
}

export function compressedCases({ mib, builds }: Setup): CompressedCases {
  const bytes = mib * MIB;
  const alone = (name: string, command: string): Case => ({ name, parts: [here(command)], bytes, read: nothing });
  const zstd = alone('zstd -1', 'zstd -q -1 -T1 -c "$TEXT" > /dev/null');
  const both = alone('zstd -1 -T2, zstd -d', 'zstd -q -1 -T2 -c "$TEXT" | zstd -q -d > /dev/null');
  const ours = (run: FileRun, goals: readonly Goal[] = []) =>
    builds.map((build) => ({ ...fileToNull(build, run, bytes), goals }));
  const text = (name: string, options: string, base?: Case) => {
    const run = { name, options, sending: ZSTD, source: '"$TEXT"' };
    return ours(run, base && [{ figure: 'mb_per_s', base, bound: 'at least', value: 0.95 }]);
  };
  return {
    zstd,
    both,
    unpack: alone('zstd -d', 'zstd -q -d -c "$TEXT.zst" > /dev/null'),
    oneJob: text('rdsend TEXT, one job', '--encrypt never --jobs 1', zstd),
    twoJobs: text('rdsend TEXT, two jobs', '--encrypt never --jobs 2'),
    encrypted: text('rdsend TEXT, encrypted', '--encrypt always'),
    random: ours({
      name: 'rdsend FILE, compression on',
      options: '--encrypt never',
      sending: ZSTD,
      source: '"$SOURCE"',
    }),
  };
}
