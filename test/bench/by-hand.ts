// SPDX-License-Identifier: Apache-2.0
// Command lines of rdsend and rdrecv without rdpipe; they read the key from a file on descriptor 3.
import { accessSync, mkdirSync, symlinkSync } from 'node:fs';
import { machine } from 'node:os';
import { join } from 'node:path';
import { output } from '../support/run-program.ts';

/** A build of rdsend and rdrecv. */
export interface Build {
  /** Suffix of the names of its cases; empty for the build of this checkout. */
  readonly label: string;
  /** Directory of the two programs. */
  readonly programs: string;
}

/** Returns false for old builds without `--encrypt auth`; they can be compared in all other cases. */
export function knowsAuth({ programs }: Build): boolean {
  return /--encrypt .*auth/s.test(output(join(programs, 'rdsend'), ['--help']).toString());
}

/** Returns the static programs of a copy installed below `prefix`; makes links to them, named as they are called. */
export function installedBuild(prefix: string, links: string): Build {
  const program = join(prefix, `lib/rdpipe/build/rdpipe/native/linux-${machine()}/static/rdhop`);
  accessSync(program);
  mkdirSync(links);
  for (const name of ['rdsend', 'rdrecv']) symlinkSync(program, join(links, name));
  return { label: '', programs: links };
}

export interface Hop {
  /** Directory of the two programs. */
  readonly programs: string;
  /** Words of bash: the file with the key; the receiver's address and port; options of both programs. */
  readonly key: string;
  readonly address: string;
  readonly port: number | string;
  readonly options: string;
  /** Options of the sender only. */
  readonly sending?: string;
}

/** `file`: a word with the name of the input; default: standard input. */
export function rdsend({ programs, key, address, port, options, sending = '' }: Hop, file = ''): string {
  return `${programs}/rdsend -v --key-fd 3 ${options} ${sending} ${address} ${port} - ${file} 3<${key}`;
}

export function rdrecv({ programs, key, port, options }: Hop, file = ''): string {
  return `${programs}/rdrecv --key-fd 3 ${options} ${port} - ${file} 3<${key}`;
}
