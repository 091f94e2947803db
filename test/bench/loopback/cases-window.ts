// SPDX-License-Identifier: Apache-2.0
// A pipe to a pipe over a link with a long round trip: effects of the window and the kernel's buffers.
import { type Build, rdrecv, rdsend } from '../by-hand.ts';
import { type Case, MIB } from '../case.ts';
import { program } from '../programs/programs.ts';
import { ofDrain } from '../readings.ts';
import type { Setup } from './setup.ts';
import { RECEIVER_ADDRESS as RECEIVER } from './slow-link.ts';

const PART_OF_MIB = 4;

/** The case of nc is the first. */
export type WindowCases = readonly [Case, ...Case[]];

export function windowCases({ mib, builds }: Setup): WindowCases {
  const bytes = Math.ceil(mib / PART_OF_MIB) * MIB;
  const peer = (name: string, receive: string, send: string) => overLink(`${name}, slow link`, receive, send, bytes);
  const ours = (options: string) => (build: Build) => {
    const ends = {
      programs: build.programs,
      key: '"$KEY"',
      address: RECEIVER,
      port: '"$PORT"',
      options: `--transport tcp --streams 1 ${options}`,
    };
    return peer(`rdsend ${options}${build.label}`, rdrecv(ends), rdsend(ends));
  };
  const mbuffer = 'mbuffer -q -s 1M -m 64M';
  return [
    peer('nc', `nc -l ${RECEIVER} $PORT`, `nc -N ${RECEIVER} $PORT`),
    peer('mbuffer -s 1M -m 64M', `${mbuffer} -I $PORT`, `${mbuffer} -O ${RECEIVER}:$PORT`),
    ...builds.map(ours('--encrypt never')),
    ...builds.map(ours('--encrypt never --buffer 64M')),
    ...builds.map(ours('--encrypt always')),
  ];
}

function overLink(name: string, receive: string, send: string, bytes: number): Case {
  const listens = { transport: 'tcp', port: 'PORT', through: '$RECEIVER' } as const;
  const parts = [
    { on: 'here', command: `$RECEIVER ${receive} | ${program('drain')}`, listens },
    { on: 'here', command: `head -c ${bytes} "$SOURCE" | $SENDER ${send}` },
  ] as const;
  return { name, parts, bytes, read: ([said = '']) => ofDrain(said, bytes) };
}
