// SPDX-License-Identifier: Apache-2.0
// The documents of the repository: each of their links leads to a file that is there.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import { ROOT } from '../support/root.ts';

describe('documents', () => {
  for (const name of documents()) {
    it(`${name} has links to files that are there`, () => {
      const text = readFileSync(join(ROOT, name), 'utf8');
      const links = [...text.matchAll(/\]\(([^)#]+)[^)]*\)|src="([^"]+)"/g)].map(
        ([, link, image]) => link ?? image ?? '',
      );
      const files = links.filter((link) => !/^https?:/.test(link));
      expect(files.filter((link) => !existsSync(join(ROOT, dirname(name), link)))).to.deep.equal([]);
    });
  }
});

/** Those at the top of the repository, and all below docs/. */
function documents(): string[] {
  const below = readdirSync(join(ROOT, 'docs'), { recursive: true, encoding: 'utf8' });
  const names = [...readdirSync(ROOT), ...below.map((name) => join('docs', name))];
  return names.filter((name) => name.endsWith('.md')).sort();
}
