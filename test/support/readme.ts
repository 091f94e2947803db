// SPDX-License-Identifier: Apache-2.0
// Reads the shell commands in README and docs/install.md that users are to type.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './root.ts';

export type Page = 'README.md' | 'docs/install.md';

/** The lines of a section's shell block; `number` counts from 0. */
export function linesOfBlock(page: Page, heading: string, number: number): string[] {
  const text = readFileSync(join(ROOT, page), 'utf8');
  const section = text.split(`\n${heading}\n`)[1]?.split('\n## ')[0] ?? '';
  const block = [...section.matchAll(/^```sh\n(.*?)^```/gms)][number]?.[1] ?? '';
  return block.trimEnd().split('\n');
}
