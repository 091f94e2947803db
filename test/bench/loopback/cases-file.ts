// SPDX-License-Identifier: Apache-2.0
// A file to a file on the same disk, from the sender's start to the receiver's end.
// Each run compares the two files afterwards.
import { type Build, rdrecv, rdsend } from '../by-hand.ts';
import { type Case, type Goal, MIB, nothing } from '../case.ts';
import { here, hop, listener, type Setup } from './setup.ts';

export interface FileCases {
  readonly cp: Case;
  readonly cpSync: Case;
  readonly dd: Case;
  readonly cached: readonly Case[];
  readonly cold: readonly Case[];
}

const CACHED = 'rm -f "$TARGET"; cat "$SOURCE" > /dev/null';
/** Drops the source from the page cache, which requires that its pages are on disk. */
const COLD = 'rm -f "$TARGET"; sync "$SOURCE"; dd if="$SOURCE" iflag=nocache count=0 status=none';
const COMPARE = 'cmp "$SOURCE" "$TARGET" && rm "$TARGET"';

export function fileCases({ mib, builds }: Setup): FileCases {
  const bytes = mib * MIB;
  const copy = (name: string, before: string, command: string): Case => {
    return { name, parts: [here(command)], before, after: COMPARE, bytes, read: nothing };
  };
  const cp = copy('cp', CACHED, 'cp --reflink=never "$SOURCE" "$TARGET"');
  const direct = 'bs=1M iflag=direct oflag=direct conv=fsync status=none';
  const dd = copy('dd, O_DIRECT, cold source', COLD, `dd if="$SOURCE" of="$TARGET" ${direct}`);
  const ours = (name: string, before: string, base: Case, value: number) => {
    const goal: Goal = { figure: 'mb_per_s', base, bound: 'at least', value };
    return builds.map((build) => twoEnds(build, name, before, bytes, goal));
  };
  return {
    cp,
    cpSync: copy('cp, sync', CACHED, 'cp --reflink=never "$SOURCE" "$TARGET" && sync "$TARGET"'),
    dd,
    cached: ours('rdsend FILE to rdrecv FILE', CACHED, cp, 0.9),
    cold: ours('rdsend FILE to rdrecv FILE, cold source', COLD, dd, 1),
  };
}

function twoEnds(build: Build, name: string, before: string, bytes: number, goal: Goal): Case {
  const ends = hop(build, '--encrypt never');
  const parts = [listener(rdrecv(ends, '"$TARGET"')), here(rdsend(ends, '"$SOURCE"'))];
  return { name: `${name}${build.label}`, parts, before, after: COMPARE, bytes, read: nothing, goals: [goal] };
}
