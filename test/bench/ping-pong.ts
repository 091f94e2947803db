// SPDX-License-Identifier: Apache-2.0
import { mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { ROOT } from '../support/root.ts';
import { output } from '../support/shell-out.ts';

/** Where the hosts see it too. */
export const PING_PONG = join(ROOT, 'build/bench/ping-pong');

export function compilePingPong(): void {
  mkdirSync(dirname(PING_PONG), { recursive: true });
  output('cc', ['-std=c17', '-D_GNU_SOURCE', '-O2', join(ROOT, 'test/bench/ping-pong.c'), '-o', PING_PONG]);
}
