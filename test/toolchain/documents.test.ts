// SPDX-License-Identifier: Apache-2.0
// The documents of the repository: their links lead to files that are there, versions are the program's.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import { VERSION } from '../../packages/rdpipe/src/model/version.ts';
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

  it("README's Install names packages of this version", () => {
    const [, install = ''] = readFileSync(join(ROOT, 'README.md'), 'utf8').split('\n## Install\n');
    const named = [...install.matchAll(/\brdpipe[_-](\d[\d.]*\d)(?:_\w+\.deb|\.tgz|-linux\.tar\.gz)/g)];
    expect(named.map(([, version]) => version)).to.deep.equal([VERSION, VERSION, VERSION]);
  });
});

/** Those at the top of the repository, and all below docs/. */
function documents(): string[] {
  const below = readdirSync(join(ROOT, 'docs'), { recursive: true, encoding: 'utf8' });
  const names = [...readdirSync(ROOT), ...below.map((name) => join('docs', name))];
  return names.filter((name) => name.endsWith('.md')).sort();
}
