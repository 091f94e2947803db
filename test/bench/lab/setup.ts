// SPDX-License-Identifier: Apache-2.0
// The common pieces of the lab's command lines.
import type { Build, Hop } from '../by-hand.ts';
import { HOP_KEY } from './files.ts';

/** Emulated hosts are slow to answer when this machine is busy. */
export const PATIENCE = '--connect-timeout 60';

export interface Setup {
  /** How much a run moves, and how often a small message goes there and back in one. */
  readonly mib: number;
  readonly trips: number;
  /** The builds of rdsend and rdrecv that are compared. */
  readonly builds: readonly Build[];
  /** For rdpipe -F. */
  readonly sshConfig: string;
}

export function hopTo({ programs }: Build, address: string, port: number, options: string): Hop {
  return { programs, key: HOP_KEY, address, port, options: `${PATIENCE} ${options}` };
}
