// SPDX-License-Identifier: Apache-2.0
// The requirements of the benchmark on loopback.
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

/** One line with the missing requirements and how to get them; undefined if nothing is missing. */
export function whatLoopbackLacks(): string | undefined {
  return missingTools(TOOLS);
}

/** As whatLoopbackLacks(), for the tables of copies. */
export function whatCopiesLack(): string | undefined {
  return missingTools(COPIERS);
}

/** As whatLoopbackLacks(), for the table of tools that send one file to many hosts. */
export function whatFanOutToolsLack(): string | undefined {
  return missingTools(FAN_OUT);
}
