// SPDX-License-Identifier: Apache-2.0
// A file that is in memory to /dev/null, and iperf3, which sends the same memory again and again.
import { rdrecv, rdsend } from '../by-hand.ts';
import { type Case, type Goal, MIB } from '../case.ts';
import { ofIperf, ofLast, ofRdsend } from '../readings.ts';
import { ADDRESS, type Build, here, hop, listener, type Setup } from './setup.ts';

export interface NullCases {
  readonly iperf: Case;
  readonly plain: readonly Case[];
  readonly encrypted: readonly Case[];
}

export function nullCases({ mib, builds }: Setup): NullCases {
  const bytes = mib * MIB;
  const iperf: Case = {
    name: 'iperf3',
    parts: [listener(`iperf3 -s -1 -B ${ADDRESS} -p $PORT`), here(`iperf3 -J -c ${ADDRESS} -p $PORT -n ${mib}M`)],
    bytes,
    read: ofLast(ofIperf),
  };
  const goal: Goal = { figure: 'mb_per_s', base: iperf, bound: 'at least', value: 1, aim: 1.2 };
  return {
    iperf,
    plain: builds.map((build) => ours(build, 'rdsend FILE', bytes, '--encrypt never', [goal])),
    encrypted: builds.map((build) => ours(build, 'rdsend FILE, encrypted', bytes, '--encrypt always', [])),
  };
}

function ours(build: Build, name: string, bytes: number, options: string, goals: readonly Goal[]): Case {
  const ends = hop(build, options);
  return {
    name: `${name}${build.label}`,
    parts: [listener(`${rdrecv(ends)} > /dev/null`), here(rdsend(ends, '"$SOURCE"'))],
    bytes,
    read: ofLast((said) => ofRdsend(said, 'tcp', bytes)),
    goals,
  };
}
