// SPDX-License-Identifier: Apache-2.0
// Compiles the C programs of the tests.
import { join } from 'node:path';
import { execaSync } from 'execa';
import { ROOT } from './root.ts';

/** `source` relative to the checkout; `libraries` as pkg-config knows them. */
export function compileProgram(source: string, program: string, ...libraries: readonly string[]): void {
  const words = libraries.flatMap((name) =>
    execaSync('pkg-config', ['--cflags', '--libs', name]).stdout.trim().split(/\s+/),
  );
  const options = ['-std=c17', '-D_GNU_SOURCE', '-D_FILE_OFFSET_BITS=64', '-O1', '-Wall', '-Wextra', '-Werror'];
  execaSync('cc', [...options, join(ROOT, source), '-o', program, ...words]);
}
