// SPDX-License-Identifier: Apache-2.0
// The start time and memory of a pipeline, compared with as many ssh logins, at most 8 at a time.
import { type Case, type Goal, MIB, nothing } from '../case.ts';
import { program } from '../programs/programs.ts';
import { ofDrain, ofNativePrograms } from '../readings.ts';
import type { Setup } from './setup.ts';

export const STAGES = [2, 8, 32] as const;
export const STAGES_MAX = 32;
const AT_ONCE = 8;
/** Least amount over each hop, so that its buffers were full. */
const MIB_MIN = 8;
const PART_OF_MIB = 16;
const TIMES_SSH_MAX: ReadonlyMap<number, number> = new Map([
  [2, 1.5],
  [STAGES_MAX, 1.2],
]);

export type StartCases = readonly StartCase[];

export interface StartCase {
  readonly stages: number;
  readonly ssh: Case;
  readonly rdpipe: Case;
  readonly stream: Case;
}

export function startCases(setup: Setup): StartCases {
  return STAGES.map((stages) => {
    const ssh = logins(stages);
    const value = TIMES_SSH_MAX.get(stages);
    const goals: Goal[] = value === undefined ? [] : [{ figure: 'wall_s', base: ssh, bound: 'at most', value }];
    return { stages, ssh, rdpipe: { ...shortRun(stages), goals }, stream: stream(stages, setup) };
  });
}

/** The case of ssh logins to `hosts` hosts, which is one of STAGES. */
export function loginsOf(start: StartCases, hosts: number): Case {
  const found = start.find(({ stages }) => stages === hosts);
  if (found === undefined) throw new Error(`no logins to ${hosts} hosts are measured`);
  return found.ssh;
}

function logins(count: number): Case {
  const command = `printf '%s\\n' ${hosts(count).join(' ')} | xargs -P ${AT_ONCE} -I HOST ssh -F "$SSH_CONFIG" HOST true`;
  return { name: `ssh HOST true, ${count} hosts`, parts: [{ on: 'here', command }], read: nothing };
}

function shortRun(count: number): Case {
  const command = `test "$(echo hi | rdpipe -q -F "$SSH_CONFIG" ${cats(count)})" = hi`;
  return { name: `a word through rdpipe, ${count} hosts`, parts: [{ on: 'here', command }], read: nothing };
}

/** Each byte passes one hop more than there are stages, because the stream starts and ends on this machine. */
function stream(count: number, { mib }: Setup): Case {
  const bytes = Math.max(MIB_MIN, Math.ceil(mib / PART_OF_MIB)) * MIB;
  const run = `rdpipe --json -F "$SSH_CONFIG" --encrypt never ${cats(count)}`;
  return {
    name: `rdpipe, ${count} stages`,
    parts: [{ on: 'here', command: `head -c ${bytes} "$SOURCE" | ${run} | ${program('drain')}` }],
    bytes,
    read: ([said = ''], beganS = 0) => ({ ...ofDrain(said, bytes, beganS), ...ofNativePrograms(said) }),
    goals: [
      { figure: 'max_rss_mib', bound: 'at most', value: 120 },
      { figure: 'native_rss_mib', bound: 'at most', value: 24 + 8 },
    ],
  };
}

function cats(count: number): string {
  return hosts(count)
    .map((host) => `${host}:cat`)
    .join(' ');
}

function hosts(count: number): string[] {
  return Array.from({ length: count }, (_, index) => `h${index + 1}`);
}
