// SPDX-License-Identifier: Apache-2.0
// Command lines of rdpipe and other tools that carry standard input over TCP on loopback.
import { type Build, rdrecv, rdsend } from '../by-hand.ts';
import { MIB, type Part } from '../case.ts';
import { ADDRESS, here, hop, listener } from './setup.ts';

/** Programs that carry a stream from a writer to a reader. */
export interface Carrier {
  readonly name: string;
  /**
   * Returns one part if the near end starts the far end. `write` and `read` are command lines without double quotes;
   * their variables are expanded on this machine.
   */
  readonly parts: (write: string, read: string) => readonly Part[];
}

export const NC: Carrier = twoEnds('nc', `nc -l ${ADDRESS} $PORT`, `nc -N ${ADDRESS} $PORT`);
export const SOCAT: Carrier = socat('socat', '');
export const TUNED_SOCAT: Carrier = socat('socat -b 1M', `-b ${MIB}`);
export const MBUFFER: Carrier = mbuffer('mbuffer', '');
export const TUNED_MBUFFER: Carrier = mbuffer('mbuffer -s 1M -m 64M', '-s 1M -m 64M');
export const SSH_128: Carrier = ssh('ssh aes128-gcm', '-c aes128-gcm@openssh.com');
export const SSH_256: Carrier = ssh('ssh aes256-gcm', '-c aes256-gcm@openssh.com');
/** With the cipher that ssh chooses. */
export const SSH: Carrier = ssh('ssh', '');
/** No carrier: the cost of the writer, the reader and a pipe. */
export const BARE_PIPE: Carrier = { name: 'a pipe alone', parts: (write, read) => [here(`${write} | ${read}`)] };

export function plain(build: Build): Carrier {
  return ours('rdsend', build, '--encrypt never');
}

export function authenticated(build: Build): Carrier {
  return ours('rdsend, authenticated', build, '--encrypt auth');
}

export function encrypted(build: Build): Carrier {
  return ours('rdsend, encrypted', build, '--encrypt always');
}

export function ours(name: string, build: Build, options: string): Carrier {
  const ends = hop(build, options);
  return twoEnds(`${name}${build.label}`, rdrecv(ends), rdsend(ends));
}

/** rdpipe starts the receiver on a host, as ssh does. */
export function rdpipe(): Carrier {
  const command = 'rdpipe -q --stderr raw -F "$SSH_CONFIG" --encrypt never';
  return { name: 'rdpipe', parts: (write, read) => [here(`${write} | ${command} h1:"${read}"`)] };
}

export function rdssh(name: string, encrypt: 'never' | 'always'): Carrier {
  return likeSsh(name, `rdssh --persist=0 --encrypt=${encrypt}`);
}

function socat(name: string, options: string): Carrier {
  const listen = `socat -u ${options} TCP-LISTEN:$PORT,bind=${ADDRESS},reuseaddr STDOUT`;
  return twoEnds(name, listen, `socat -u ${options} STDIN TCP:${ADDRESS}:$PORT`);
}

function mbuffer(name: string, options: string): Carrier {
  return twoEnds(name, `mbuffer -q ${options} -I $PORT`, `mbuffer -q ${options} -O ${ADDRESS}:$PORT`);
}

function ssh(name: string, options: string): Carrier {
  return likeSsh(name, `ssh ${options}`);
}

/** A program with ssh's command line. */
function likeSsh(name: string, command: string): Carrier {
  return { name, parts: (write, read) => [here(`${write} | ${command} -F "$SSH_CONFIG" h1 "${read}"`)] };
}

function twoEnds(name: string, receive: string, send: string): Carrier {
  return { name, parts: (write, read) => [listener(`${receive} | ${read}`), here(`${write} | ${send}`)] };
}
