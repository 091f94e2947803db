// SPDX-License-Identifier: Apache-2.0
// A file in the page cache to /dev/null, and iperf3, which sends the same memory repeatedly.
import { type Build, knowsAuth, rdrecv, rdsend } from '../by-hand.ts';
import { type Case, type Goal, MIB } from '../case.ts';
import { ofIperf, ofLast, ofRdsend } from '../readings.ts';
import { ADDRESS, here, hop, listener, type Setup } from './setup.ts';

export interface NullCases {
  readonly iperf: Case;
  readonly plain: readonly Case[];
  readonly authenticated: readonly Case[];
  readonly encrypted: readonly Case[];
}

export interface FileRun {
  readonly name: string;
  readonly options: string;
  /** Options of the sender only. */
  readonly sending?: string;
  /** A word of bash. */
  readonly source: string;
}

export function nullCases({ mib, builds }: Setup): NullCases {
  const bytes = mib * MIB;
  const source = '"$SOURCE"';
  const iperf: Case = {
    name: 'iperf3',
    parts: [listener(`iperf3 -s -1 -B ${ADDRESS} -p $PORT`), here(`iperf3 -J -c ${ADDRESS} -p $PORT -n ${mib}M`)],
    bytes,
    read: ofLast(ofIperf),
  };
  const goals: readonly Goal[] = [{ figure: 'mb_per_s', base: iperf, bound: 'at least', value: 1 }];
  const plain = { name: 'rdsend FILE', options: '--encrypt never', source };
  const authenticated = { name: 'rdsend FILE, authenticated', options: '--encrypt auth', source };
  const encrypted = { name: 'rdsend FILE, encrypted', options: '--encrypt always', source };
  return {
    iperf,
    plain: builds.map((build) => ({ ...fileToNull(build, plain, bytes), goals })),
    authenticated: builds.filter(knowsAuth).map((build) => fileToNull(build, authenticated, bytes)),
    encrypted: builds.map((build) => fileToNull(build, encrypted, bytes)),
  };
}

/** Uses the time that the sender reports, without start and handshake. */
export function fileToNull(build: Build, { name, options, sending, source }: FileRun, bytes: number): Case {
  const ends = hop(build, options, sending);
  return {
    name: `${name}${build.label}`,
    parts: [listener(`${rdrecv(ends)} > /dev/null`), here(rdsend(ends, source))],
    bytes,
    read: ofLast((said) => ofRdsend(said, 'tcp', bytes)),
  };
}
