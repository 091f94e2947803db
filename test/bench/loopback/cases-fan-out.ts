// SPDX-License-Identifier: Apache-2.0
// One stream to many hosts with rdpipe: in a chain, to one host after another, and with `tee` stages.
import { cpus } from 'node:os';
import { type Case, type Goal, MIB, nothing } from '../case.ts';
import { ofChain } from '../readings.ts';
import { fanOut, hosts, stream } from './fan-out.ts';
import { here, type Setup } from './setup.ts';

export const WIDTH_MAX = 8;
const WIDTHS = [2, 4, WIDTH_MAX] as const;
const RECEIVERS_MAX = 32;
const KIB = 1024;
const TIMES_ONE_BY_ONE = 3;
const TIMES_TEE = 2;
const OF_THE_BOUND = 0.9;
/** Measured on two processors, which all hosts share: docs/notes/fan-out.md. */
const LIMITS = { oneByOne: { value: 1.8, by: 'the processors' }, tee: { value: 1.5, by: 'the processors' } };
const TIMES_LOGINS = 1.2;
const RDPIPE = 'rdpipe -F "$SSH_CONFIG"';
const PLAIN = `${RDPIPE} --encrypt never`;

export interface FanOutCases {
  /** A run to one host: its processor time limits the rate of a chain on these cores. */
  readonly oneHost: Case;
  readonly widths: readonly Width[];
  /** The case of logins is the first. */
  readonly many: readonly [Case, ...Case[]];
}

export interface Width {
  readonly chain: Case;
  readonly oneByOne: Case;
  readonly tee: Case;
}

/** `logins`: the case of ssh logins to 32 hosts. */
export function fanOutCases({ mib }: Setup, logins: Case): FanOutCases {
  const streamMib = Math.ceil(mib / 2);
  const oneHost = chain('rdpipe, 1 host', 1, streamMib);
  const widths = WIDTHS.map((width) => widthOf(width, streamMib, oneHost));
  return { oneHost, widths, many: [logins, ...toMany(mib, logins)] };
}

function widthOf(width: number, mib: number, oneHost: Case): Width {
  const [oneByOne, tee] = [byTurns(width, mib), byTee(width, mib)];
  const goals: Goal[] = [
    { figure: 'gib_per_core_s', base: oneHost, bound: 'at least', value: OF_THE_BOUND },
    { figure: 'mb_per_s', base: oneByOne, bound: 'at least', value: TIMES_ONE_BY_ONE, limit: LIMITS.oneByOne },
    { figure: 'mb_per_s', base: tee, bound: 'at least', value: TIMES_TEE, limit: LIMITS.tee },
  ];
  const widest = width === WIDTH_MAX;
  return { chain: { ...chain(`rdpipe, a chain of ${width}`, width, mib), ...(widest && { goals }) }, oneByOne, tee };
}

function chain(name: string, width: number, mib: number): Case {
  // A stage on one host has no $RDPIPE_HOST.
  const sink = width === 1 ? '"h1:> $OUTPUTS/h1"' : `"h[1-${width}]:> $OUTPUTS/"'$RDPIPE_HOST'`;
  const command = `${PLAIN} --json ":< $STREAM" ${sink}`;
  const read: Case['read'] = ([said = '']) => ofChain(said, mib * MIB, cpus().length);
  return { ...fanOut({ name, command, width, mib }), read };
}

function byTurns(width: number, mib: number): Case {
  const run = `${PLAIN} ":< $STREAM" $host:"> $OUTPUTS/$host" || exit`;
  const command = `for host in ${hosts(width)}; do ${run}; done`;
  return fanOut({ name: `rdpipe, ${width} hosts one after another`, command, width, mib });
}

function byTee(width: number, mib: number): Case {
  const last = `h${width}`;
  const stages = `for host in ${hosts(width - 1)}; do set -- "$@" $host:"tee $OUTPUTS/$host"; done`;
  const command = `${stages}; ${PLAIN} ":< $STREAM" "$@" ${last}:"> $OUTPUTS/${last}"`;
  return fanOut({ name: `rdpipe, ${width} stages with tee`, command, width, mib });
}

function toMany(mib: number, logins: Case): Case[] {
  const goals: Goal[] = [{ figure: 'wall_s', base: logins, bound: 'at most', value: TIMES_LOGINS }];
  const digests = 'openssl sha256 -r >';
  return [
    { ...toEach('64 KiB', 64 * KIB), goals },
    { ...toEach('1 MiB', MIB), goals },
    toEach(`${mib} MiB, of which hosts keep the digest`, mib * MIB, digests),
  ];
}

/** `keep` computes a digest of a long stream, whose copies do not fit in memory. */
function toEach(name: string, bytes: number, keep = '>'): Case {
  const each = `for host in ${hosts(RECEIVERS_MAX)}`;
  const compare = keep === '>' ? 'cmp "$STREAM" "$OUTPUTS/$host"' : 'test "$(cut -c -64 "$OUTPUTS/$host")" = "$wanted"';
  const wanted = 'wanted=$(openssl sha256 -r "$STREAM" | cut -c -64)';
  return {
    name: `rdpipe, a chain of ${RECEIVERS_MAX}, ${name}`,
    parts: [here(`${RDPIPE} ":< $STREAM" "h[1-${RECEIVERS_MAX}]:${keep} $OUTPUTS/"'$RDPIPE_HOST'`)],
    bytes: RECEIVERS_MAX * bytes,
    before: `mkdir -p "$OUTPUTS" && ${stream(bytes)}`,
    after: `${wanted}; ${each}; do ${compare} || exit; done; rm "$OUTPUTS"/h*`,
    read: nothing,
  };
}
