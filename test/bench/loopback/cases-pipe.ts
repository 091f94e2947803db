// SPDX-License-Identifier: Apache-2.0
// `cat SOURCE | X` on one side, `X | drain` on the other.
// X: other tools, and rdsend and rdrecv, unencrypted, authenticated and encrypted.

import { knowsAuth } from '../by-hand.ts';
import { type Case, type Goal, MIB } from '../case.ts';
import { program } from '../programs/programs.ts';
import { ofDrain } from '../readings.ts';
import type { Setup } from './setup.ts';
import {
  authenticated,
  type Carrier,
  encrypted,
  MBUFFER,
  NC,
  plain,
  rdpipe,
  SOCAT,
  SSH_128,
  SSH_256,
  TUNED_MBUFFER,
  TUNED_SOCAT,
} from './two-ends.ts';

/** The default window of a hop. */
const BUFFER_MIB = 8;
/** A program that only reads 1 MiB and sends it, one thread per end: best of 3 series (docs/notes/throughput.md). */
const COPIER = 'a bare copier';

export interface PipeCases {
  readonly nc: Case;
  readonly tunedMbuffer: Case;
  readonly ssh128: Case;
  readonly ssh256: Case;
  /** Peers besides nc, tuned mbuffer and ssh. */
  readonly otherPeers: readonly Case[];
  readonly plain: readonly Case[];
  readonly authenticated: readonly Case[];
  readonly encrypted: readonly Case[];
  readonly rdpipe: Case;
}

export function pipeCases({ mib, builds }: Setup): PipeCases {
  const moved = (carrier: Carrier) => movedBy(carrier, 'cat "$SOURCE"', mib * MIB);
  const [nc, tunedMbuffer, ssh128, ssh256] = [moved(NC), moved(TUNED_MBUFFER), moved(SSH_128), moved(SSH_256)];
  const plainGoals: Goal[] = [
    { figure: 'mb_per_s', base: nc, bound: 'at least', value: 1.7, limit: { value: 1.48, by: COPIER } },
    { figure: 'mb_per_s', base: tunedMbuffer, bound: 'at least', value: 1.3 },
    { figure: 'mb_per_s', base: ssh128, bound: 'at least', value: 3 },
    { figure: 'cpu_s_per_gib', bound: 'at most', value: 1.05, limit: { value: 1.16, by: COPIER } },
    { figure: 'max_rss_mib', bound: 'at most', value: 24 + BUFFER_MIB },
  ];
  const encryptedGoals: Goal[] = [
    { figure: 'mb_per_s', base: ssh256, bound: 'at least', value: 2.2 },
    { figure: 'mb_per_s', base: nc, bound: 'at least', value: 1.1 },
  ];
  const rdpipeGoal: Goal = { figure: 'max_rss_mib', bound: 'at most', value: 120 };
  return {
    nc,
    tunedMbuffer,
    ssh128,
    ssh256,
    otherPeers: [SOCAT, TUNED_SOCAT, MBUFFER].map(moved),
    plain: builds.map((build) => ({ ...moved(plain(build)), goals: plainGoals })),
    authenticated: builds.filter(knowsAuth).map((build) => moved(authenticated(build))),
    encrypted: builds.map((build) => ({ ...moved(encrypted(build)), goals: encryptedGoals })),
    rdpipe: { ...moved(rdpipe()), goals: [rdpipeGoal] },
  };
}

/** A case that moves the output of `write`, until `drain` has read it all. */
export function movedBy({ name, parts }: Carrier, write: string, bytes: number): Case {
  return { name, parts: parts(write, program('drain')), bytes, read: ([said = '']) => ofDrain(said, bytes) };
}
