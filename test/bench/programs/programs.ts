// SPDX-License-Identifier: Apache-2.0
// Compiles the benchmark's own programs, each from one C file.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../../support/root.ts';
import { output } from '../../support/run-program.ts';

const NAMES = ['measure', 'drain', 'writes', 'lines', 'ping-pong', 'delayed-link'] as const;
/** A directory that the lab's hosts also see. */
const DIRECTORY = join(ROOT, 'build/bench');

export function program(name: (typeof NAMES)[number]): string {
  return join(DIRECTORY, name);
}

export function compilePrograms(): void {
  mkdirSync(DIRECTORY, { recursive: true });
  for (const name of NAMES)
    output('cc', ['-std=c17', '-D_GNU_SOURCE', '-O2', join(import.meta.dirname, `${name}.c`), '-o', program(name)]);
}
