// SPDX-License-Identifier: Apache-2.0
// The programs of the benchmark itself, of one C file each.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../../support/root.ts';
import { output } from '../../support/run-program.ts';

const NAMES = ['measure', 'drain', 'writes', 'lines', 'ping-pong', 'delayed-link'] as const;
/** Where the lab's hosts see them too. */
const DIRECTORY = join(ROOT, 'build/bench');

export function program(name: (typeof NAMES)[number]): string {
  return join(DIRECTORY, name);
}

export function compilePrograms(): void {
  mkdirSync(DIRECTORY, { recursive: true });
  for (const name of NAMES)
    output('cc', ['-std=c17', '-D_GNU_SOURCE', '-O2', join(import.meta.dirname, `${name}.c`), '-o', program(name)]);
}
