// SPDX-License-Identifier: Apache-2.0
// One file to many hosts with a chain of rdpipe, and with other tools: two use multicast, two use ssh.
import { type Case, type Goal, MIB } from '../case.ts';
import { fanOut, hosts } from './fan-out.ts';
import type { Setup } from './setup.ts';
import { addressOf, HOST_INTERFACE, SWITCH_INTERFACE, SWITCHED } from './switched-hosts.ts';

/** Kilobits per second: at lower rates uftp takes longer. */
const UFTP_RATE = 2_000_000;
/** The kernel's maximum. */
const UFTP_BUFFER = 4 * MIB;
const UFTP_MESSAGE = 1472;
/** Port 1044 of a receiver's socket, as in /proc/net/udp. */
const UFTP_PORT = ':0414';

/** All cases use the same network of namespaces. */
export interface FanOutToolCases {
  readonly udpcast: Case;
  readonly uftp: Case;
  readonly clush: Case;
  readonly taktuk: Case;
  readonly plain: Case;
  readonly encrypted: Case;
}

export function fanOutToolCases({ mib }: Setup): FanOutToolCases {
  const by = (name: string, command: string, others: readonly Case[] = []): Case => {
    const copy = '"$SWITCHED_DIRECTORIES/$host/copy"';
    const goals = others.map((base): Goal => ({ figure: 'mb_per_s', base, bound: 'at least', value: 1 }));
    return { ...fanOut({ name, command, width: SWITCHED, mib: Math.ceil(mib / 2), copy }), goals };
  };
  const udpcast = by('udpcast', udpcastLine());
  const uftp = by('uftp', uftpLine());
  const clush = by('clush --copy', clushLine());
  const taktuk = by('taktuk put', taktukLine());
  const plain = by('rdpipe', rdpipeLine('never'), [udpcast, uftp, clush, taktuk]);
  const encrypted = by('rdpipe, encrypted', rdpipeLine('always'), [clush, taktuk]);
  return { udpcast, uftp, clush, taktuk, plain, encrypted };
}

function rdpipeLine(encrypt: 'never' | 'always'): string {
  return `$AT_SWITCH rdpipe -F "$SWITCHED_CONFIG" --encrypt ${encrypt} ":< $STREAM" "h[1-${SWITCHED}]:> $SWITCHED/copy"`;
}

/** -O: with the newer protocol (SFTP), scp needs a path that it can resolve on the host. */
function clushLine(): string {
  const options = `-q -S -f ${SWITCHED} -o "-O -F $SWITCHED_CONFIG" -w "h[1-${SWITCHED}]"`;
  return `$AT_SWITCH clush ${options} --copy "$STREAM" --dest "$SWITCHED/copy"`;
}

function taktukLine(): string {
  const options = `-s -c "ssh -F $SWITCHED_CONFIG" -m "h[1-${SWITCHED}]"`;
  return `$AT_SWITCH taktuk ${options} broadcast put [ "$STREAM" ] [ "$SWITCHED/copy" ]`;
}

/** Receivers are started over ssh, as users do. */
function udpcastLine(): string {
  const limits = '--start-timeout 30 --receive-timeout 30';
  const receiver = `udp-receiver --nokbd --interface ${HOST_INTERFACE} ${limits} --file $SWITCHED/copy`;
  const sender = `udp-sender --nokbd --interface ${SWITCH_INTERFACE} --min-receivers ${SWITCHED} --file "$STREAM"`;
  return `${onEach(receiver)}; $AT_SWITCH ${sender} && wait $running`;
}

/** Receivers are daemons that listen until they are killed. */
function uftpLine(): string {
  const receiver = `uftpd -d -q -I ${HOST_INTERFACE} -B ${UFTP_BUFFER} -D $SWITCHED/`;
  const pid = (host: string) => `$(cat "$SWITCHED_DIRECTORIES/${host}/pid")`;
  const listens = `test -s "$SWITCHED_DIRECTORIES/$host/pid" && grep -q ${UFTP_PORT} /proc/${pid('$host')}/net/udp`;
  const to = Array.from({ length: SWITCHED }, (_, index) => idOf(addressOf(index))).join(',');
  const options = `-q -R ${UFTP_RATE} -B ${UFTP_BUFFER} -b ${UFTP_MESSAGE} -I ${SWITCH_INTERFACE} -D copy -H ${to}`;
  return [
    'rm -f "$SWITCHED_DIRECTORIES"/h*/pid',
    onEach(`echo \\$\\$ > $SWITCHED/pid; exec ${receiver}`),
    `for host in ${hosts(SWITCHED)}; do until ${listens}; do sleep 0.02; done; done`,
    `$AT_SWITCH uftp ${options} "$STREAM"; status=$?`,
    `for host in ${hosts(SWITCHED)}; do kill ${pid('$host')}; done; wait; exit $status`,
  ].join('\n');
}

/** Runs a command line, put into double quotes, on all hosts at once; `running` gets the pids of all ssh. */
function onEach(command: string): string {
  const ssh = `$AT_SWITCH ssh -F "$SWITCHED_CONFIG" $host "${command}"`;
  return `running=; for host in ${hosts(SWITCHED)}; do ${ssh} & running="$running $!"; done`;
}

/** The name of a receiver: its address in hexadecimal. */
function idOf(address: string): string {
  const digits = address.split('.').map((part) => Number(part).toString(16).padStart(2, '0'));
  return `0x${digits.join('')}`;
}
