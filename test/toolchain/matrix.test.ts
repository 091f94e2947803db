// SPDX-License-Identifier: Apache-2.0
// There are at least as many tests of faults and attacks as docs/testing.md states.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { expect } from 'chai';
import { execaSync } from 'execa';
import { ROOT } from '../support/root.ts';

interface Listing {
  readonly tests: readonly { readonly file: string }[];
}

describe('docs/testing.md counts', () => {
  const counts = new Map<string, number>();

  before(() => {
    const directories = ['faults', 'attacks', 'copy', 'full'].map((directory) => `test/${directory}/**/*.test.ts`);
    const words = ['--dry-run', '--reporter', 'json', ...directories];
    // Suites create directories when they are loaded, and would remove them after tests, which do not run here.
    const scratch = mkdtempSync(join(tmpdir(), 'rdpipe-loaded-'));
    const { stdout: said } = execaSync(join(ROOT, 'node_modules/.bin/mocha'), words, {
      cwd: ROOT,
      env: { TMPDIR: scratch },
    });
    rmSync(scratch, { recursive: true });
    // Skip the seed that a suite prints when it is loaded.
    const listing: Listing = JSON.parse(said.slice(said.search(/^\{$/m)));
    for (const { file } of listing.tests) {
      const name = relative(join(ROOT, 'test'), file).replace(/\.test\.ts$/, '');
      counts.set(name, (counts.get(name) ?? 0) + 1);
    }
  });

  for (const [, number = '', files = ''] of countsIn(readFileSync(join(ROOT, 'docs/testing.md'), 'utf8')))
    it(`${number} in ${files}`, () => {
      const found = files.split(', ').map((pattern) => sumOf(pattern.replaceAll('`', '')));
      expect(found.reduce((sum, one) => sum + one)).to.be.at.least(Number(number.replace(',', '')));
      for (const one of found) expect(one).to.be.above(0);
    });

  function sumOf(pattern: string): number {
    const like = new RegExp(`^${pattern.replace('*', '[^/]*')}$`);
    return [...counts].filter(([name]) => like.test(name)).reduce((sum, [, count]) => sum + count, 0);
  }
});

/** Finds counts such as `24 (`faults/kill-matrix-*`)`. */
function countsIn(text: string): RegExpMatchArray[] {
  return [...text.matchAll(/\| ([\d,]+) \((`(?:faults|attacks|copy|full)\/[^)]*`)\)/g)];
}
