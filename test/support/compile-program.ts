// SPDX-License-Identifier: Apache-2.0
// Compiles the C programs of the tests.
import { join } from 'node:path';
import { execaSync } from 'execa';
import { ROOT } from './root.ts';

/** Compiles `source`, relative to the checkout; `more`: further words for the compiler. */
export function compileProgram(source: string, program: string, more: readonly string[] = []): void {
  const options = ['-std=c17', '-D_GNU_SOURCE', '-D_FILE_OFFSET_BITS=64', '-O1', '-Wall', '-Wextra', '-Werror'];
  execaSync('cc', [...options, join(ROOT, source), '-o', program, ...more]);
}

/** Returns the words for a library that pkg-config knows. */
export function libraryWords(name: string): readonly string[] {
  return execaSync('pkg-config', ['--cflags', '--libs', name]).stdout.trim().split(/\s+/);
}
