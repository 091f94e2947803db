// SPDX-License-Identifier: Apache-2.0
// `rdssh` in place of `ssh`: commands that do nothing, and streams one way and both ways at once.
import { type Case, type Goal, MIB } from '../case.ts';
import { program } from '../programs/programs.ts';
import { ofDrain, ofRuns } from '../readings.ts';
import { movedBy } from './cases-pipe.ts';
import { ADDRESS, here, listener, type Setup } from './setup.ts';
import { type Carrier, NC, rdssh, SSH } from './two-ends.ts';

const FRESH_RUNS = 10;
const KEPT_RUNS = 50;
const TIMES_SSH = 3;
const TIMES_NC = 0.9;
const CONTROL = '-F "$SSH_CONFIG" -o ControlPath="$MARK.%h"';

export interface RdsshCases {
  /** ssh's new connection first, then ssh over a connection that is kept. */
  readonly start: readonly [Case, Case, ...Case[]];
  /** nc first, then ssh. */
  readonly oneWay: readonly [Case, Case, ...Case[]];
  readonly bothWays: readonly [Case, Case, ...Case[]];
}

export function rdsshCases({ mib }: Setup): RdsshCases {
  return { start: startCases(), oneWay: oneWayCases(mib * MIB), bothWays: bothWaysCases(mib * MIB) };
}

function startCases(): RdsshCases['start'] {
  const open = `ssh ${CONTROL} -o ControlMaster=yes -o ControlPersist=60 -fN h1`;
  const close = `ssh ${CONTROL} -O exit h1`;
  const again = 'rdssh --persist=1 -F "$SSH_CONFIG" h1 true';
  return [
    commands('ssh h1 true', 'ssh -F "$SSH_CONFIG" h1 true', FRESH_RUNS),
    commands('ssh h1 true, kept connection', `ssh ${CONTROL} h1 true`, KEPT_RUNS, { open, close }),
    commands('rdssh h1 true', 'rdssh --persist=0 -F "$SSH_CONFIG" h1 true', FRESH_RUNS),
    commands('rdssh h1 true, kept connection', again, KEPT_RUNS, { open: again }),
    commands("rdssh h1 true, ssh's kept connection", `rdssh ${CONTROL} h1 true`, KEPT_RUNS, { open, close }),
  ];
}

/** Runs a command `count` times; `open` and `close` are not measured. */
function commands(
  name: string,
  command: string,
  count: number,
  { open = ':', close = ':' }: { readonly open?: string; readonly close?: string } = {},
): Case {
  const lines = [
    `${open} || exit`,
    'began=$EPOCHREALTIME',
    `for ((i = 0; i < ${count}; i++)); do ${command} || exit; done`,
    'echo "runs: from $began to $EPOCHREALTIME s"',
    close,
  ];
  return { name, parts: [here(lines.join('\n'))], read: ([said = '']) => ofRuns(said, count) };
}

function oneWayCases(bytes: number): RdsshCases['oneWay'] {
  const moved = (carrier: Carrier) => movedBy(carrier, 'cat "$SOURCE"', bytes);
  const [nc, ssh] = [moved(NC), moved(SSH)];
  const goals: Goal[] = [{ figure: 'mb_per_s', base: ssh, bound: 'at least', value: TIMES_SSH }];
  return [nc, ssh, ...OURS.map((carrier) => ({ ...moved(carrier), goals }))];
}

const OURS: readonly Carrier[] = [rdssh('rdssh', 'never'), rdssh('rdssh, encrypted', 'always')];

/** Every byte goes to the host and comes back. */
function bothWaysCases(bytes: number): RdsshCases['bothWays'] {
  // Two processes, because one that reads and writes both ways stops when all its pipes are full.
  const echo = `nc -l ${ADDRESS} $PORT | cat | nc -N -l ${ADDRESS} $NEAR`;
  const listens = 'until ss -Hltn "sport = :$NEAR" | grep -q .; do sleep 0.01; done';
  const client = `${listens}; cat "$SOURCE" | nc -N ${ADDRESS} $PORT & nc ${ADDRESS} $NEAR | ${program('drain')}; wait`;
  const nc: Case = {
    name: 'nc, both ways',
    parts: [listener(echo), here(client)],
    bytes,
    read: (said) => ofDrain(said.join(''), bytes),
  };
  const through = ({ name, parts }: Carrier): Case => ({
    name: `${name}, both ways`,
    parts: parts('cat "$SOURCE"', 'cat').map((part) => ({ ...part, command: `${part.command} | ${program('drain')}` })),
    bytes,
    read: ([said = '']) => ofDrain(said, bytes),
  });
  const goals: Goal[] = [{ figure: 'mb_per_s', base: nc, bound: 'at least', value: TIMES_NC }];
  return [nc, through(SSH), ...OURS.map((carrier) => ({ ...through(carrier), goals }))];
}
