// SPDX-License-Identifier: Apache-2.0
// docs/testing.md names existing tests for the promises of each section of docs/threat-model.md.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { ROOT } from '../support/root.ts';

const DIRECTORIES = ['test', ...readdirSync(join(ROOT, 'packages')).map((name) => `packages/${name}/test`)];

describe('docs/testing.md names existing tests, for docs/threat-model.md', () => {
  const [, map = ''] = read('docs/testing.md').split('\n## Promises and their tests\n');
  const rows = [...map.matchAll(/^\| \[(.+?)\]\(threat-model\.md#(.+?)\) \| (.+) \| (.+) \|$/gm)];

  for (const [title = ''] of [...read('docs/threat-model.md').matchAll(/(?<=^## ).+$/gm)]) {
    it(title, () => {
      const own = rows.filter(([, section]) => section === title);
      expect(own).to.not.have.length(0);
      for (const [row, , anchor, , tests = ''] of own) {
        expect(anchor).to.equal(title.toLowerCase().replaceAll(' ', '-'));
        expectTests(tests, row);
      }
    });
  }

  it('and for no other section', () => {
    const titles = new Set([...read('docs/threat-model.md').matchAll(/(?<=^## ).+$/gm)].map(([title]) => title));
    expect(rows.filter(([, section = '']) => !titles.has(section)).map(([row]) => row)).to.deep.equal([]);
    expect(rows).to.have.length(map.match(/^\| (?!section )/gm)?.length ?? 0);
  });
});

function expectTests(text: string, claim: string): void {
  const names = [...text.matchAll(/`([^`]+)`/g)].map((match) => match[1] ?? '');
  expect(names, claim).to.not.have.length(0);
  for (const name of names) expect(isThere(name), `${name}, of: ${claim}`).to.equal(true);
}

function isThere(name: string): boolean {
  const file = name.endsWith('_test') ? `${name}.c` : `${name}.test.ts`;
  return DIRECTORIES.some((directory) => existsSync(join(ROOT, directory, file)));
}

function read(file: string): string {
  return readFileSync(join(ROOT, file), 'utf8');
}
