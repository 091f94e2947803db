// SPDX-License-Identifier: Apache-2.0
// Command lines of rdsend and rdrecv without rdpipe. The key comes from a file, by a descriptor.
import { join } from 'node:path';
import { output } from '../support/run-program.ts';

/** Of rdsend and rdrecv. */
export interface Build {
  /** After the names of its cases; empty for this checkout's. */
  readonly label: string;
  /** Where the two programs are. */
  readonly programs: string;
}

/** Builds from before it had `--encrypt auth` can be compared in everything else. */
export function knowsAuth({ programs }: Build): boolean {
  return /--encrypt .*auth/s.test(output(join(programs, 'rdsend'), ['--help']).toString());
}

export interface Hop {
  /** Where the two programs are. */
  readonly programs: string;
  /** Words of bash: a file that holds the key; the receiver's address and port; options of both. */
  readonly key: string;
  readonly address: string;
  readonly port: number | string;
  readonly options: string;
  /** Options of the sender alone. */
  readonly sending?: string;
}

/** `file`: a word that names the input; without it, standard input. */
export function rdsend({ programs, key, address, port, options, sending = '' }: Hop, file = ''): string {
  return `${programs}/rdsend -v --key-fd 3 ${options} ${sending} ${address} ${port} - ${file} 3<${key}`;
}

export function rdrecv({ programs, key, port, options }: Hop, file = ''): string {
  return `${programs}/rdrecv --key-fd 3 ${options} ${port} - ${file} 3<${key}`;
}
