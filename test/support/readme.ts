// SPDX-License-Identifier: Apache-2.0
// Reads the lines of shell that README and docs/install.md tell a user to type.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './root.ts';

export type Page = 'README.md' | 'docs/install.md';

/** Lines of shell, in one of the blocks of a page's section. */
export function linesOfBlock(page: Page, heading: string, number: number): string[] {
  const text = readFileSync(join(ROOT, page), 'utf8');
  const section = text.split(`\n${heading}\n`)[1]?.split('\n## ')[0] ?? '';
  const block = [...section.matchAll(/^```sh\n(.*?)^```/gms)][number]?.[1] ?? '';
  return block.trimEnd().split('\n');
}
