// SPDX-License-Identifier: Apache-2.0
// What the lab's command lines have in common.
import { ROOT } from '../../support/root.ts';
import type { Hop } from '../by-hand.ts';
import { HOP_KEY } from './files.ts';

/** Emulated hosts are slow to answer when this machine is busy. */
export const PATIENCE = '--connect-timeout 60';

export interface Setup {
  /** How much a run moves, and how often a small message goes there and back in one. */
  readonly mib: number;
  readonly trips: number;
  /** For rdpipe -F. */
  readonly sshConfig: string;
}

export function hopTo(address: string, port: number, options: string): Hop {
  return { programs: `${ROOT}/bin`, key: HOP_KEY, address, port, options: `${PATIENCE} ${options}` };
}
