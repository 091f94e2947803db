// SPDX-License-Identifier: Apache-2.0
// Forwarded connections: round trips, and 8 readers at once, over `rdssh -L`, `ssh -L` and directly.
import { type Case, type Goal, MIB } from '../case.ts';
import { program } from '../programs/programs.ts';
import { ofDrains, ofTrips } from '../readings.ts';
import { here, type Setup } from './setup.ts';

const READERS = 8;
const TRIPS_MIN = 500;
const TIMES_SSH = 3;
/** On two processors, nothing is faster than a direct connection. */
const BARE = { value: 2.85, by: 'the connection itself' };
/** Waits until port $1 accepts connections. */
const AWAIT = 'until (: <>"/dev/tcp/127.0.0.1/$1") 2>&-; do sleep 0.05; done';

export interface ForwardCases {
  /** The direct connection first, then ssh. */
  readonly trips: readonly [Case, Case, ...Case[]];
  readonly readers: readonly [Case, Case, ...Case[]];
}

interface Way {
  readonly name: string;
  /** Forwards $NEAR to $PORT until it is killed. */
  readonly forward?: string;
}

const DIRECT: Way = { name: 'TCP' };
const SSH: Way = {
  name: 'ssh -L',
  forward: 'ssh -F "$SSH_CONFIG" -c aes128-gcm@openssh.com -N -L $NEAR:127.0.0.1:$PORT h1',
};
const OURS: readonly Way[] = [ours('rdssh -L', 'never'), ours('rdssh -L, encrypted', 'always')];

export function forwardCases({ mib }: Setup): ForwardCases {
  const count = Math.max(TRIPS_MIN, mib * 4);
  const ssh = readersBy(SSH, mib);
  const goals: Goal[] = [{ figure: 'mb_per_s', base: ssh, bound: 'at least', value: TIMES_SSH, limit: BARE }];
  const ourTrips = OURS.map((way) => tripsBy(way, count));
  const ourReaders = OURS.map((way) => ({ ...readersBy(way, mib), goals }));
  return {
    trips: [tripsBy(DIRECT, count), tripsBy(SSH, count), hops(count), ...ourTrips],
    readers: [readersBy(DIRECT, mib), ssh, ...ourReaders],
  };
}

function ours(name: string, encrypt: 'never' | 'always'): Way {
  const options = `--persist=0 --encrypt=${encrypt}`;
  return { name, forward: `rdssh ${options} -F "$SSH_CONFIG" -N -L $NEAR:127.0.0.1:$PORT h1` };
}

function tripsBy(way: Way, count: number): Case {
  const client = `exec 3<>/dev/tcp/127.0.0.1/$near; ${program('ping-pong')} ping ${count} <&3 >&3 3>&-`;
  return {
    name: `${way.name}, there and back`,
    parts: [here(between(way, `${program('ping-pong')} pong`, `( ${client} )`))],
    read: ([said = '']) => ofTrips(said),
  };
}

/** Two hops without forwarded connections: to the host and back. */
function hops(count: number): Case {
  const pong = `rdpipe -q --persist=0 --encrypt never -F "$SSH_CONFIG" h1:'${program('ping-pong')} pong'`;
  const command = `rm -f $MARK; mkfifo $MARK; ${program('ping-pong')} ping ${count} <$MARK | ${pong} >$MARK`;
  return {
    name: 'two hops, there and back',
    parts: [here(command)],
    read: ([said = '']) => ofTrips(said),
  };
}

function readersBy(way: Way, mib: number): Case {
  const bytes = Math.ceil(mib / READERS) * MIB;
  const reader = `${program('drain')} </dev/tcp/127.0.0.1/$near &`;
  const all = `readers=; for i in {1..${READERS}}; do ${reader} readers="$readers $!"; done; wait $readers`;
  return {
    name: `${way.name}, ${READERS} readers`,
    parts: [here(between(way, `head -c ${bytes} $SOURCE`, all))],
    read: ([said = '']) => ofDrains(said, READERS, bytes),
  };
}

/** Starts a server with a process per connection, and clients, which connect to `$near`. */
function between({ forward }: Way, server: string, clients: string): string {
  const wait = (port: string) => `set -- ${port}; ${AWAIT}`;
  const lines = [
    `socat TCP-LISTEN:$PORT,bind=127.0.0.1,fork,reuseaddr,backlog=64 EXEC:"${server}",nofork & running=$!`,
    wait('$PORT'),
    ...(forward === undefined ? ['near=$PORT'] : [`${forward} & running="$running $!"`, wait('$NEAR'), 'near=$NEAR']),
    `${clients}; status=$?`,
    'kill $running; wait; exit $status',
  ];
  return lines.join('\n');
}
