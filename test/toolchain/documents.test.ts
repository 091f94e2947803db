// SPDX-License-Identifier: Apache-2.0
// Documents of the repository: links point to existing files, and versions are those of the program.
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import { VERSION } from '../../packages/rdpipe/src/model/version.ts';
import { brokenLinks, placeDocuments, removeBrokenLinks } from '../../scripts/dist/documents.ts';
import { ROOT } from '../support/root.ts';

describe('documents', () => {
  for (const name of documents()) {
    it(`${name} has links to existing files`, () => {
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
    const named = [...install.matchAll(/\brdpipe[_-](\d[\d.]*\d)(?:_\w+\.deb|-1\.\w+\.rpm|\.tgz|-linux\.tar\.gz)/g)];
    expect(named.map(([, version]) => version)).to.deep.equal([VERSION, VERSION, VERSION, VERSION]);
  });
});

describe('the documents of a package', () => {
  let directory: string;

  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'rdpipe-test-documents-'));
  });
  afterEach(() => rmSync(directory, { recursive: true }));

  it('link only to each other, also without the licence, which Debian has elsewhere', () => {
    placeDocuments(ROOT, directory);
    expect(brokenLinks(directory)).to.deep.equal([]);
    expect(readdirSync(directory)).to.include.members(['README.md', 'SECURITY.md', 'CHANGELOG.md', 'LICENSE', 'docs']);
    expect(readdirSync(join(directory, 'docs'))).to.include.members(['hosts.md', 'images', 'serving.md']);
    rmSync(join(directory, 'LICENSE'));
    expect(brokenLinks(directory)).to.deep.equal(['README.md: LICENSE']);
    removeBrokenLinks(directory);
    expect(brokenLinks(directory)).to.deep.equal([]);
  });

  it('keep the text of a link to a file that is not shipped', () => {
    const page = join(directory, 'docs/a.md');
    mkdirSync(join(directory, 'docs'));
    writeFileSync(join(directory, 'b.md'), '');
    writeFileSync(
      page,
      '[b](../b.md#x) [c\nd](c.md) [e](#e) [w](https://w.example) [out](../../)\n```sh\n[x](x)\n```\n',
    );
    removeBrokenLinks(directory);
    expect(readFileSync(page, 'utf8')).to.equal(
      '[b](../b.md#x) c\nd [e](#e) [w](https://w.example) out\n```sh\n[x](x)\n```\n',
    );
  });
});

/** The Markdown files at the top of the repository, and all below docs/. */
function documents(): string[] {
  const below = readdirSync(join(ROOT, 'docs'), { recursive: true, encoding: 'utf8' });
  const names = [...readdirSync(ROOT), ...below.map((name) => join('docs', name))];
  return names.filter((name) => name.endsWith('.md')).sort();
}
