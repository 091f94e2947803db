// SPDX-License-Identifier: Apache-2.0
// Round trips of 64 bytes between h2 and h1: other tools, and two hops without rdpipe,
// with a program that connects their pipes.
import { addressOf } from '../../lab/network.ts';
import { type Build, rdrecv, rdsend } from '../by-hand.ts';
import type { Case, Goal } from '../case.ts';
import { noted } from '../processors.ts';
import { program } from '../programs/programs.ts';
import { ofLast, ofPingPong, ofRstreamLatency, ofSendLatency, type Transport } from '../readings.ts';
import { hopTo, type Setup } from './setup.ts';

const TO_PING = 4712;
const TO_PONG = 4711;

/** The others are compared with the first two. */
export function smallCases(setup: Setup): readonly [Case, Case, ...Case[]] {
  const { trips, builds } = setup;
  const sendLatency = `ib_send_lat -R -e -F -s 64 -n ${trips}`;
  const rstream = `rstream -S 64 -C 1 -I ${trips}`;
  const device = peer(
    '`ib_send_lat -R -e`',
    sendLatency,
    18515,
    `${sendLatency} ${addressOf(1)}`,
    ofLast(ofSendLatency),
  );
  const sockets = peer('`rstream`', rstream, 7471, `${rstream} -s ${addressOf(1)}`, ofLast(ofRstreamLatency));
  return [
    device,
    sockets,
    ...builds.flatMap((build) => [
      twoHops('RDMA, shell pipes', build, trips, 'rdma', '', atMost(device)),
      twoHops('RDMA, shell pipes, `--poll`', build, trips, 'rdma', '--poll', atMost(sockets)),
      twoHops('TCP, shell pipes', build, trips, 'tcp', '--encrypt never'),
    ]),
  ];
}

function peer(name: string, server: string, port: number, client: string, read: Case['read']): Case {
  const parts = [
    { on: 'h1', command: noted(server), listens: { transport: 'rdma', port } },
    { on: 'h2', command: noted(client) },
  ] as const;
  return { name, parts, read };
}

function twoHops(name: string, build: Build, trips: number, transport: Transport, words: string, goal?: Goal): Case {
  const options = `--transport ${transport} ${words}`;
  const [toPing, toPong] = [hopTo(build, addressOf(2), TO_PING, options), hopTo(build, addressOf(1), TO_PONG, options)];
  const pong = `${rdrecv(toPong)} | ${program('ping-pong')} pong | ${rdsend(toPing)}`;
  const ping = `${rdrecv(toPing)} | ${program('ping-pong')} ping ${trips} | ${rdsend(toPong)}`;
  const parts = [
    { on: 'h1', command: noted(pong) },
    { on: 'h2', command: noted(ping) },
  ] as const;
  const read = ofLast((said) => ofPingPong(said, transport));
  return { name: `${name}${build.label}`, parts, read, ...(goal && { goals: [goal] }) };
}

function atMost(base: Case): Goal {
  return { figure: 'half_trip_us', base, bound: 'at most', value: 1.5 };
}
