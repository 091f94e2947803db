// SPDX-License-Identifier: Apache-2.0
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { onPath } from '../support/needs.ts';
import { ROOT } from '../support/root.ts';

const PROGRAMS = ['build/release/rdsend', 'build/release/rdrecv', 'build/rdpipe/rdpipe.cjs'];

/**
 * Checks tools, given with their Debian packages, and the build. Returns one line that says how to get what is missing;
 * undefined if nothing is.
 */
export function missingTools(tools: ReadonlyMap<string, string>): string | undefined {
  const packages = new Set([...tools].filter(([tool]) => !onPath(tool)).map(([, name]) => name));
  if (packages.size > 0) return `packages are missing: sudo apt-get install ${[...packages].join(' ')}`;
  if (PROGRAMS.some((program) => !existsSync(join(ROOT, program)))) return 'not built yet: npm run build';
  return undefined;
}
