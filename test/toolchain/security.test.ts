// SPDX-License-Identifier: Apache-2.0
// SECURITY.md says of each claim which tests show it, and these are there.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { ROOT } from '../support/root.ts';

/** In place of tests: there is nothing to show. */
const BY_CHOICE = '(a choice)';
const DIRECTORIES = ['test', ...readdirSync(join(ROOT, 'packages')).map((name) => `packages/${name}/test`)];

describe('SECURITY.md names tests that are there', () => {
  const [, ...sections] = readFileSync(join(ROOT, 'SECURITY.md'), 'utf8').split(/^## /m);

  for (const section of sections) {
    const [title = '', ...lines] = section.trimEnd().split('\n');
    const [head, ...rows] = lines.filter((line) => line.startsWith('| '));

    it(title, () => {
      if (head === undefined) {
        const shownBy = section.trimEnd().split('\n\n').at(-1)?.replaceAll('\n', ' ') ?? '';
        expect(shownBy).to.match(/^Shown by `/);
        expectTests(shownBy);
        return;
      }
      expect(lastCellOf(head)).to.equal('shown by');
      for (const row of rows) if (lastCellOf(row) !== BY_CHOICE) expectTests(lastCellOf(row), row);
    });
  }
});

function expectTests(text: string, claim = text): void {
  const names = [...text.matchAll(/`([\w/-]+)`/g)].map((match) => match[1] ?? '').filter(isTest);
  expect(names, claim).to.not.have.length(0);
  for (const name of names) expect(isThere(name), `${name}, of: ${claim}`).to.equal(true);
}

/** Else it is a word of another kind, such as a program. */
function isTest(name: string): boolean {
  return name.includes('/') || name.endsWith('_test');
}

function isThere(name: string): boolean {
  const file = name.endsWith('_test') ? `${name}.c` : `${name}.test.ts`;
  return DIRECTORIES.some((directory) => existsSync(join(ROOT, directory, file)));
}

function lastCellOf(row: string): string {
  return row.split('|').at(-2)?.trim() ?? '';
}
