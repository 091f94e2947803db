// SPDX-License-Identifier: Apache-2.0
// `cat SOURCE | X` on one side, `X | drain` on the other: the peers, and rdsend and rdrecv by hand, plain and encrypted.
import { rdrecv, rdsend } from '../by-hand.ts';
import { type Case, type Goal, MIB } from '../case.ts';
import { ofDrain } from '../readings.ts';
import { ADDRESS, type Build, here, hop, listener, type Setup } from './setup.ts';

export interface PipeCases {
  readonly nc: Case;
  readonly socat: Case;
  readonly tunedSocat: Case;
  readonly mbuffer: Case;
  readonly tunedMbuffer: Case;
  readonly ssh128: Case;
  readonly ssh256: Case;
  readonly plain: readonly Case[];
  readonly encrypted: readonly Case[];
  readonly rdpipe: Case;
}

export function pipeCases(setup: Setup): PipeCases {
  const { mib, builds } = setup;
  const peer = (name: string, receive: string, send: string) => twoEnds(name, mib, receive, send);
  const overSsh = (cipher: string) =>
    oneCommand(`ssh ${cipher}`, mib, `cat "$SOURCE" | ssh -F "$SSH_CONFIG" -c ${cipher}@openssh.com h1 "$DRAIN"`);
  const socat = (options: string) =>
    [
      `socat -u ${options} TCP-LISTEN:$PORT,bind=${ADDRESS},reuseaddr STDOUT`,
      `socat -u ${options} STDIN TCP:${ADDRESS}:$PORT`,
    ] as const;
  const mbuffer = (options: string) =>
    [`mbuffer -q ${options} -I $PORT`, `mbuffer -q ${options} -O ${ADDRESS}:$PORT`] as const;
  const nc = peer('nc', `nc -l ${ADDRESS} $PORT`, `nc -N ${ADDRESS} $PORT`);
  const tunedMbuffer = peer('mbuffer -s 1M -m 64M', ...mbuffer('-s 1M -m 64M'));
  const [ssh128, ssh256] = [overSsh('aes128-gcm'), overSsh('aes256-gcm')];
  const plainGoals: Goal[] = [
    { figure: 'mb_per_s', base: nc, bound: 'at least', value: 1.7, aim: 2 },
    { figure: 'mb_per_s', base: tunedMbuffer, bound: 'at least', value: 1.3, aim: 1.5 },
    { figure: 'mb_per_s', base: ssh128, bound: 'at least', value: 3, aim: 4 },
    { figure: 'cpu_s_per_gib', bound: 'at most', value: 1.05, aim: 0.9 },
  ];
  const encryptedGoals: Goal[] = [
    { figure: 'mb_per_s', base: ssh256, bound: 'at least', value: 2.2, aim: 3 },
    { figure: 'mb_per_s', base: nc, bound: 'at least', value: 1.1 },
  ];
  return {
    nc,
    socat: peer('socat', ...socat('')),
    tunedSocat: peer('socat -b 1M', ...socat(`-b ${MIB}`)),
    mbuffer: peer('mbuffer', ...mbuffer('')),
    tunedMbuffer,
    ssh128,
    ssh256,
    plain: builds.map((build) => ours(build, 'rdsend', mib, '--encrypt never', plainGoals)),
    encrypted: builds.map((build) => ours(build, 'rdsend, encrypted', mib, '--encrypt always', encryptedGoals)),
    rdpipe: oneCommand(
      'rdpipe',
      mib,
      `rdpipe -q --stderr raw -F "$SSH_CONFIG" --stdin none --encrypt never h1:"cat '$SOURCE'" h2:"$DRAIN"`,
    ),
  };
}

function ours(build: Build, name: string, mib: number, options: string, goals: readonly Goal[]): Case {
  const ends = hop(build, options);
  return { ...twoEnds(`${name}${build.label}`, mib, rdrecv(ends), rdsend(ends)), goals };
}

function twoEnds(name: string, mib: number, receive: string, send: string): Case {
  const parts = [listener(`${receive} | "$DRAIN"`), here(`cat "$SOURCE" | ${send}`)];
  return { name, parts, bytes: mib * MIB, read: ([received = '']) => ofDrain(received, mib * MIB) };
}

function oneCommand(name: string, mib: number, command: string): Case {
  return { name, parts: [here(command)], bytes: mib * MIB, read: ([said = '']) => ofDrain(said, mib * MIB) };
}
