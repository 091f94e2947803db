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
  /** A chain, and the same with a host that is killed when it has half of the stream. */
  readonly whole: Case;
  readonly mended: Case;
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
  const whole = chain(`rdpipe, a chain of ${WIDTH_MAX}, --require any`, WIDTH_MAX, streamMib, LOSSES);
  const many = [logins, ...toMany(mib, logins)] as const;
  return { oneHost, widths, whole, mended: mended(streamMib), many };
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

function chain(name: string, width: number, mib: number, options = ''): Case {
  // A stage on one host has no $RDPIPE_HOST.
  const sink = width === 1 ? '"h1:> $OUTPUTS/h1"' : `"h[1-${width}]:> $OUTPUTS/"'$RDPIPE_HOST'`;
  const command = `${PLAIN} --json ${options} ":< $STREAM" ${sink}`;
  const read: Case['read'] = ([said = '']) => ofChain(said, mib * MIB, cpus().length);
  return { ...fanOut({ name, command, width, mib }), read };
}

const LOSSES = '--require any';
const LOST = 'h4';

/** A stream that is so short that the host may have all of it before it is killed, in the rounds that warm up. */
const SHORT_MIB = 64;

/** The processes of a host are those with its home in their environment. */
function mended(mib: number): Case {
  const name = `the same, ${LOST} killed in the middle`;
  const half = (mib * MIB) / 2;
  const missed = mib < SHORT_MIB ? `rm -f "$OUTPUTS/${LOST}"; exit 0` : 'exit 1';
  const command = `its() { grep -lzx "HOME=\${SSH_CONFIG%/*}/${LOST}" /proc/[0-9]*/environ 2>/dev/null | cut -d/ -f3; }
written() { for pid in $(its); do sed -n 's/^wchar: //p' /proc/$pid/io; done 2>/dev/null | sort -n | tail -1; }
${PLAIN} -q ${LOSSES} ":< $STREAM" "h[1-${WIDTH_MAX}]:> $OUTPUTS/"'$RDPIPE_HOST' & run=$!
until [ "$(written)" -gt ${half} ] 2>/dev/null; do
  kill -0 $run 2>/dev/null || { wait $run && ${missed}; }
done
kill -STOP $(its); kill -KILL $(its); wait $run`;
  return fanOut({ name, command, width: WIDTH_MAX, mib, lost: LOST });
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
