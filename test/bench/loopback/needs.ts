// SPDX-License-Identifier: Apache-2.0
// The needs of the benchmark on loopback.
import { missingTools } from '../needs.ts';

const TOOLS: ReadonlyMap<string, string> = new Map([
  ['cc', 'gcc'],
  ['dd', 'coreutils'],
  ['iperf3', 'iperf3'],
  ['mbuffer', 'mbuffer'],
  ['nc', 'netcat-openbsd'],
  ['socat', 'socat'],
  ['ssh', 'openssh-client'],
  ['sshd', 'openssh-server'],
  ['zstd', 'zstd'],
]);

const COPIERS: ReadonlyMap<string, string> = new Map([
  ['fpsync', 'fpart'],
  ['rclone', 'rclone'],
  ['rsync', 'rsync'],
  ['scp', 'openssh-client'],
]);

const FAN_OUT: ReadonlyMap<string, string> = new Map([
  ['clush', 'clustershell'],
  ['taktuk', 'taktuk'],
  ['udp-sender', 'udpcast'],
  ['uftp', 'uftp'],
]);

/** One line that says what is missing and how to get it; undefined: nothing is. */
export function whatLoopbackLacks(): string | undefined {
  return missingTools(TOOLS);
}

/** The same for the tables of copies. */
export function whatCopiesLack(): string | undefined {
  return missingTools(COPIERS);
}

/** The same for the table of tools that send one file to many hosts. */
export function whatFanOutToolsLack(): string | undefined {
  return missingTools(FAN_OUT);
}
