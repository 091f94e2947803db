// SPDX-License-Identifier: Apache-2.0
// One hop from h1 to h2 in messages of 1 MiB: other tools, and rdsend and rdrecv without rdpipe.
import { addressOf } from '../../lab/network.ts';
import { type Build, type Hop, knowsAuth, rdrecv, rdsend } from '../by-hand.ts';
import { type Case, type Goal, type Listening, MIB } from '../case.ts';
import { noted } from '../processors.ts';
import { ofIperf, ofLast, ofRdsend, ofRstreamBandwidth, ofSendBandwidth, type Transport } from '../readings.ts';
import { SOURCE, TARGET } from './files.ts';
import { hopTo, type Setup } from './setup.ts';

const RECEIVER = addressOf(2);
const PORT = 4711;

/** The others are compared with the first one. */
export function bulkCases(setup: Setup): readonly [Case, ...Case[]] {
  const { mib, builds } = setup;
  const sendBandwidth = `ib_send_bw -R -e -F -s ${MIB} -n ${mib}`;
  const rstream = `rstream -S ${MIB} -C ${mib} -I 1`;
  const iperf = `iperf3 -J -c ${RECEIVER} -n ${mib}M -l 1M`;
  const base = peer(
    '`ib_send_bw -R -e`',
    [sendBandwidth, rdma(18515)],
    `${sendBandwidth} ${RECEIVER}`,
    ofLast(ofSendBandwidth),
  );
  const atLeast = (value: number, reachable: number): Goal => {
    return { figure: 'mb_per_s', base, bound: 'at least', value, limit: { value: reachable, by: 'processors' } };
  };
  return [
    base,
    peer('`rstream`', [rstream, rdma(7471)], `${rstream} -s ${RECEIVER}`, ofLast(ofRstreamBandwidth)),
    peer('`iperf3`, TCP', ['iperf3 -s -1', { transport: 'tcp', port: 5201 }], iperf, ofLast(ofIperf)),
    ...builds.flatMap((build) => [
      byHand('RDMA, file to `/dev/null`', build, mib, 'rdma', fileToNull, '--encrypt never', atLeast(0.85, 0.73)),
      byHand('RDMA, file to file', build, mib, 'rdma', fileToFile, '--encrypt never'),
      byHand('RDMA, shell pipes', build, mib, 'rdma', pipes, '--encrypt never', atLeast(0.8, 0.68)),
      ...(knowsAuth(build)
        ? [byHand('RDMA authenticated, file to `/dev/null`', build, mib, 'rdma', fileToNull, '--encrypt auth')]
        : []),
      byHand('RDMA encrypted, file to `/dev/null`', build, mib, 'rdma', fileToNull, '--encrypt always'),
      byHand('TCP, file to `/dev/null`', build, mib, 'tcp', fileToNull, '--encrypt never'),
      byHand('TCP, shell pipes', build, mib, 'tcp', pipes, '--encrypt never'),
    ]),
  ];
}

/** A case with a server on h2 and its client on h1. */
function peer(name: string, [server, listens]: readonly [string, Listening], client: string, read: Case['read']): Case {
  const parts = [
    { on: 'h2', command: noted(server), listens },
    { on: 'h1', command: noted(client) },
  ] as const;
  return { name, parts, read };
}

/** Returns the command lines of both ends. */
type Ends = (hop: Hop) => { readonly send: string; readonly receive: string };

function byHand(
  name: string,
  build: Build,
  mib: number,
  transport: Transport,
  ends: Ends,
  options: string,
  goal?: Goal,
): Case {
  const { send, receive } = ends(hopTo(build, RECEIVER, PORT, `--transport ${transport} ${options}`));
  const parts = [
    { on: 'h2', command: noted(receive) },
    { on: 'h1', command: noted(send) },
  ] as const;
  const read = ofLast((said) => ofRdsend(said, transport, mib * MIB));
  return { name: `${name}${build.label}`, parts, read, ...(goal && { goals: [goal] }) };
}

function fileToNull(hop: Hop): ReturnType<Ends> {
  return { send: rdsend(hop, SOURCE), receive: `${rdrecv(hop)} > /dev/null` };
}

function fileToFile(hop: Hop): ReturnType<Ends> {
  return { send: rdsend(hop, SOURCE), receive: rdrecv(hop, TARGET) };
}

function pipes(hop: Hop): ReturnType<Ends> {
  return { send: `cat ${SOURCE} | ${rdsend(hop)}`, receive: `${rdrecv(hop)} | cat > /dev/null` };
}

function rdma(port: number): Listening {
  return { transport: 'rdma', port };
}
