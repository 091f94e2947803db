// SPDX-License-Identifier: Apache-2.0
// Common parts of the lab's command lines.
import type { Build, Hop } from '../by-hand.ts';
import { HOP_KEY } from './files.ts';

/** Emulated hosts answer slowly when this machine is busy. */
export const PATIENCE = '--connect-timeout 60';

export interface Setup {
  /** The amount that a run moves, and the number of round trips of a small message in a run. */
  readonly mib: number;
  readonly trips: number;
  /** The builds of rdsend and rdrecv that are compared. */
  readonly builds: readonly Build[];
  /** The file for `rdpipe -F`. */
  readonly sshConfig: string;
}

export function hopTo({ programs }: Build, address: string, port: number, options: string): Hop {
  return { programs, key: HOP_KEY, address, port, options: `${PATIENCE} ${options}` };
}
