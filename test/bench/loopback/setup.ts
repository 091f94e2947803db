// SPDX-License-Identifier: Apache-2.0
// Common parts of the command lines on loopback. Their environment has the ports `$PORT` and `$NEAR`,
// and the files `$KEY`, `$SSH_CONFIG`, `$SOURCE`, `$TEXT`, `$TARGET` and `$MARK`.
import type { Build, Hop } from '../by-hand.ts';
import type { Listening, Part } from '../case.ts';

export interface Setup {
  /** The amount that a run moves. */
  readonly mib: number;
  /** The builds of rdsend and rdrecv that are compared. */
  readonly builds: readonly Build[];
}

export const ADDRESS = '127.0.0.1';
const AT_PORT: Listening = { transport: 'tcp', port: 'PORT' };

/** A part whose command listens at $PORT; the next part waits until it does. */
export function listener(command: string): Part {
  return { on: 'here', command, listens: AT_PORT };
}

export function here(command: string): Part {
  return { on: 'here', command };
}

export function hop({ programs }: Build, options: string, sending = ''): Hop {
  return { programs, key: '"$KEY"', address: ADDRESS, port: '"$PORT"', options: `--transport tcp ${options}`, sending };
}
