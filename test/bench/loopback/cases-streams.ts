// SPDX-License-Identifier: Apache-2.0
// A pipe to a pipe over a link with a long round trip, with and without loss: one connection and several.
// All with cubic: a sender that uses bbr does not mind the loss. All unencrypted, as nc and iperf3.
import { type Build, rdrecv, rdsend } from '../by-hand.ts';
import { type Case, type Goal, MIB } from '../case.ts';
import { program } from '../programs/programs.ts';
import { ofDrain, ofIperf, ofLast } from '../readings.ts';
import { CUBIC } from './congestion.ts';
import type { Setup } from './setup.ts';
import { RECEIVER_ADDRESS as RECEIVER, type SlowPath } from './slow-link.ts';

/** One packet in a thousand is lost. */
const LOSSY: SlowPath = { lostPpm: 1000, mtu: 1500 };
const IPERF_S = 8;
const MBUFFER = '-q -s 1M -m 64M';
/** Root may exceed the limits of send buffers. */
const AS_USER = 'setpriv --inh-caps=-net_admin --bounding-set=-net_admin';

/** The case of one connection is the first, then nc and mbuffer. */
export interface StreamsCases {
  readonly clean: readonly [Case, ...Case[]];
  readonly lossy: readonly [Case, ...Case[]];
}

export function streamsCases({ mib, builds }: Setup): StreamsCases {
  return { clean: casesFor(builds, undefined, () => mib), lossy: casesFor(builds, LOSSY, lossyMib) };

  /** For ten to thirty seconds: a connection is fast until its first loss. */
  function lossyMib(streams: number): number {
    return Math.ceil((mib * Math.max(2, Math.min(streams, 8))) / 64);
  }
}

function casesFor(
  builds: readonly Build[],
  path: SlowPath | undefined,
  mibOf: (streams: number) => number,
): readonly [Case, ...Case[]] {
  const common = { congestion: CUBIC, ...(path && { path }) };
  const where = path === undefined ? 'slow link' : 'slow link with loss';
  const ours = (streams: number | 'auto', goals: readonly Goal[] = []) =>
    builds.map((build): Case => {
      const bytes = mibOf(streams === 'auto' ? 16 : streams) * MIB;
      const options = `--transport tcp --encrypt never --congestion keep --streams ${streams}`;
      const ends = { programs: build.programs, key: '"$KEY"', address: RECEIVER, port: '"$PORT"', options };
      const name = `rdsend --streams ${streams}${build.label}, ${where}`;
      return { ...pipe(name, rdrecv(ends), `${AS_USER} ${rdsend(ends)}`, bytes), ...common, goals };
    });
  const [one, ...others] = ours(1);
  if (one === undefined) throw new Error('there is no build to measure');
  const times = (value: number): readonly Goal[] => [{ figure: 'mb_per_s', base: one, bound: 'at least', value }];
  const nc = pipe(`nc, ${where}`, `nc -l ${RECEIVER} $PORT`, `nc -N ${RECEIVER} $PORT`, mibOf(1) * MIB);
  const mbuffer = pipe(
    `mbuffer, ${where}`,
    `mbuffer ${MBUFFER} -I $PORT`,
    `mbuffer ${MBUFFER} -O ${RECEIVER}:$PORT`,
    mibOf(1) * MIB,
  );
  return [
    one,
    { ...nc, ...common },
    { ...mbuffer, ...common },
    ...[1, 4, 16].map((streams) => ({ ...iperf(streams, where), ...common })),
    ...others,
    ...ours(4, times(3)),
    ...ours(16, path === undefined ? [] : times(10)),
    ...ours('auto'),
  ];
}

function pipe(name: string, receive: string, send: string, bytes: number): Case {
  const listens = { transport: 'tcp', port: 'PORT', through: '$RECEIVER' } as const;
  const parts = [
    { on: 'here', command: `$RECEIVER ${receive} | ${program('drain')}`, listens },
    { on: 'here', command: `head -c ${bytes} /dev/zero | $SENDER ${send}` },
  ] as const;
  return { name, parts, bytes, read: ([said = '']) => ofDrain(said, bytes) };
}

function iperf(streams: number, where: string): Case {
  const listens = { transport: 'tcp', port: 'PORT', through: '$RECEIVER' } as const;
  return {
    name: `iperf3 -P ${streams}, ${where}`,
    parts: [
      { on: 'here', command: '$RECEIVER iperf3 -s -1 -p $PORT', listens },
      { on: 'here', command: `$SENDER iperf3 -J -c ${RECEIVER} -p $PORT -P ${streams} -t ${IPERF_S}` },
    ],
    read: ofLast(ofIperf),
  };
}
