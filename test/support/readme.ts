// SPDX-License-Identifier: Apache-2.0
// Reads the lines of shell that README tells a user to type.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './root.ts';

const README = readFileSync(join(ROOT, 'README.md'), 'utf8');

/** Of the shell, in one of a section's blocks. */
export function linesOfBlock(heading: string, number: number): string[] {
  const section = README.split(`\n${heading}\n`)[1]?.split('\n## ')[0] ?? '';
  const block = [...section.matchAll(/^```sh\n(.*?)^```/gms)][number]?.[1] ?? '';
  return block.trimEnd().split('\n');
}
