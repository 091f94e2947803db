// SPDX-License-Identifier: Apache-2.0
// One hop from h1 to h2 in messages of 1 MiB: the peers, and rdsend and rdrecv by hand.
import { addressOf } from '../lab/network.ts';
import { rdrecv, rdsend } from './by-hand.ts';
import { type Case, type Goal, type Listening, MIB, type Setup, SOURCE, TARGET } from './case.ts';
import { noted } from './processors.ts';
import { ofIperf, ofRdsend, ofRstreamBandwidth, ofSendBandwidth, type Transport } from './readings.ts';

export const BULK_BASE = '`ib_send_bw -R -e`';
const RECEIVER = addressOf(2);
const PORT = 4711;

export function bulkCases(setup: Setup): readonly Case[] {
  const { mib } = setup;
  const sendBandwidth = `ib_send_bw -R -e -F -s ${MIB} -n ${mib}`;
  const rstream = `rstream -S ${MIB} -C ${mib} -I 1`;
  const iperf = `iperf3 -J -c ${RECEIVER} -n ${mib}M -l 1M`;
  return [
    peer(BULK_BASE, [sendBandwidth, rdma(18515)], `${sendBandwidth} ${RECEIVER}`, ofSendBandwidth),
    peer('`rstream`', [rstream, rdma(7471)], `${rstream} -s ${RECEIVER}`, ofRstreamBandwidth),
    peer('`iperf3`, TCP', ['iperf3 -s -1', { transport: 'tcp', port: 5201 }], iperf, ofIperf),
    byHand('RDMA, file to `/dev/null`', setup, 'rdma', fileToNull, '', atLeast(0.85)),
    byHand('RDMA, file to file', setup, 'rdma', fileToFile, ''),
    byHand('RDMA, shell pipes', setup, 'rdma', pipes, '', atLeast(0.8)),
    byHand('RDMA encrypted, file to `/dev/null`', setup, 'rdma', fileToNull, '--encrypt always'),
    byHand('TCP, file to `/dev/null`', setup, 'tcp', fileToNull, '--encrypt never'),
    byHand('TCP, shell pipes', setup, 'tcp', pipes, '--encrypt never'),
  ];
}

/** A server on h2 and its client on h1. */
function peer(name: string, [server, listens]: readonly [string, Listening], client: string, read: Case['read']): Case {
  const parts = [
    { on: 'h2', command: noted(server), listens },
    { on: 'h1', command: noted(client) },
  ] as const;
  return { name, parts, read, watched: 'as noted' };
}

/** Command lines of both ends that differ by options alone. */
type Ends = (options: string) => { readonly send: string; readonly receive: string };

function byHand(name: string, { mib }: Setup, transport: Transport, ends: Ends, options: string, goal?: Goal): Case {
  const { send, receive } = ends(`--transport ${transport} ${options}`);
  const parts = [
    { on: 'h2', command: noted(receive) },
    { on: 'h1', command: noted(send) },
  ] as const;
  const read = (said: string) => ofRdsend(said, transport, mib * MIB);
  return { name, parts, read, watched: 'as noted', ...(goal && { goal }) };
}

function fileToNull(options: string): ReturnType<Ends> {
  return { send: rdsend(RECEIVER, PORT, options, SOURCE), receive: `${rdrecv(PORT, options)} > /dev/null` };
}

function fileToFile(options: string): ReturnType<Ends> {
  return { send: rdsend(RECEIVER, PORT, options, SOURCE), receive: rdrecv(PORT, options, TARGET) };
}

function pipes(options: string): ReturnType<Ends> {
  return {
    send: `cat ${SOURCE} | ${rdsend(RECEIVER, PORT, options)}`,
    receive: `${rdrecv(PORT, options)} | cat > /dev/null`,
  };
}

function atLeast(ratio: number): Goal {
  return { figure: 'mb_per_s', base: BULK_BASE, bound: 'at least', ratio };
}

function rdma(port: number): Listening {
  return { transport: 'rdma', port };
}
