// SPDX-License-Identifier: Apache-2.0
// Messages of 64 bytes to and fro between h2 and h1: the peers, and two hops by hand with a program between their pipes.
import { addressOf } from '../lab/network.ts';
import { rdrecv, rdsend } from './by-hand.ts';
import type { Case, Goal, Setup } from './case.ts';
import { PING_PONG } from './ping-pong.ts';
import { noted } from './processors.ts';
import { ofPingPong, ofRstreamLatency, ofSendLatency, type Transport } from './readings.ts';

export const SEND_LATENCY = '`ib_send_lat -R -e`';
export const RSTREAM_LATENCY = '`rstream`';
const TO_PING = 4712;
const TO_PONG = 4711;

export function smallCases(setup: Setup): readonly Case[] {
  const { trips } = setup;
  const sendLatency = `ib_send_lat -R -e -F -s 64 -n ${trips}`;
  const rstream = `rstream -S 64 -C 1 -I ${trips}`;
  return [
    peer(SEND_LATENCY, sendLatency, 18515, `${sendLatency} ${addressOf(1)}`, ofSendLatency),
    peer(RSTREAM_LATENCY, rstream, 7471, `${rstream} -s ${addressOf(1)}`, ofRstreamLatency),
    twoHops('RDMA, shell pipes', setup, 'rdma', '', atMost(SEND_LATENCY)),
    twoHops('RDMA, shell pipes, `--poll`', setup, 'rdma', '--poll', atMost(RSTREAM_LATENCY)),
    twoHops('TCP, shell pipes', setup, 'tcp', '--encrypt never'),
  ];
}

function peer(name: string, server: string, port: number, client: string, read: Case['read']): Case {
  const parts = [
    { on: 'h1', command: noted(server), listens: { transport: 'rdma', port } },
    { on: 'h2', command: noted(client) },
  ] as const;
  return { name, parts, read, watched: 'as noted' };
}

function twoHops(name: string, { trips }: Setup, transport: Transport, words: string, goal?: Goal): Case {
  const options = `--transport ${transport} ${words}`;
  const pong = `${rdrecv(TO_PONG, options)} | ${PING_PONG} pong | ${rdsend(addressOf(2), TO_PING, options)}`;
  const ping = `${rdrecv(TO_PING, options)} | ${PING_PONG} ping ${trips} | ${rdsend(addressOf(1), TO_PONG, options)}`;
  const parts = [
    { on: 'h1', command: noted(pong) },
    { on: 'h2', command: noted(ping) },
  ] as const;
  const read = (said: string) => ofPingPong(said, transport);
  return { name, parts, read, watched: 'as noted', ...(goal && { goal }) };
}

function atMost(base: string): Goal {
  return { figure: 'half_trip_us', base, bound: 'at most', ratio: 1.5 };
}
