// SPDX-License-Identifier: Apache-2.0
// check:layout reports files without a first line of comment and directories without a row.
import { expect } from 'chai';
import { makeLayout } from '../../scripts/check-layout.ts';

const SPDX = '// SPDX-License-Identifier: Apache-2.0\n';

const DIRECTORIES = {
  'packages/rdpipe/src': 'The control plane',
  'packages/rdpipe/src/ui': 'Output',
  'packages/rdpipe/src/ui/pages': 'Pages',
  'packages/core-native/src': 'The library',
  scripts: 'Tools',
  'test/lab': 'Virtual hosts',
  test: 'Suites',
};

const TREE: Readonly<Record<string, string>> = {
  'README.md': '',
  'packages/rdpipe/package.json': '',
  'packages/rdpipe/src/ui/rows.ts': '/** Rows of a table. */\nexport const rows = 1;\n',
  'packages/rdpipe/src/ui/line.ts': `${SPDX}/**\n * One line.\n * More about it,\n * in two lines.\n */\n`,
  'packages/rdpipe/src/ui/pages/page.cjs': `${SPDX}// A page\n\n// Another comment.\n`,
  'packages/core-native/src/ring.c': `${SPDX}#include "ring.h"\n`,
  'packages/core-native/src/ring.h': `${SPDX}// Bytes between two threads. More\n// about it is here.\n#ifndef RING_H\n`,
  'packages/core-native/src/main.c': `${SPDX}// The program.\n#include "ring.h"\n`,
  'scripts/setup.mjs': '',
  'test/a.test.ts': '',
  'test/lab/guest/init': '',
};

const TEXT = `packages/rdpipe/src/      The control plane
  ui/                     Output
    line.ts               One line
    rows.ts               Rows of a table
    pages/                Pages
      page.cjs            A page

packages/core-native/src/  The library
  main.c                  The program
  ring                    Bytes between two threads

scripts/                  Tools
test/lab/                 Virtual hosts
test/                     Suites`;

describe('the layout', () => {
  const whole = { ...TREE, 'packages/core-native/src/ring.h': `${SPDX}// Bytes between two threads.\n// More.\n` };

  it('has a row for every directory and module, in the order of the directories', () => {
    const layout = made(whole);
    expect(layout.text).to.equal(TEXT);
    expect(layout.complaints).to.deep.equal([]);
  });

  it('wraps a long text in its column, within 120 columns', () => {
    const text = `The ${'long '.repeat(18)}name.`;
    const { text: layout, complaints } = made({ ...whole, 'packages/rdpipe/src/ui/rows.ts': `/** ${text} */\n` });
    expect(layout).to.include(`rows.ts               The ${'long '.repeat(17)}long\n${' '.repeat(26)}name\n`);
    expect(complaints).to.deep.equal([]);
  });

  for (const [what, change, complaint] of [
    [
      'a new file without a comment',
      { 'packages/rdpipe/src/ui/new.ts': 'export const a = 1;\n// A comment.\n' },
      'new.ts: begin',
    ],
    [
      'a C file without a header and a comment',
      { 'packages/core-native/src/b.c': `${SPDX}#include "c.h"\n` },
      'b.c: begin',
    ],
    [
      'a comment whose first line is not a phrase',
      { 'packages/core-native/src/ring.h': TREE['packages/core-native/src/ring.h'] },
      'ring.h: its first line continues',
    ],
    [
      'a comment that is too long',
      { 'packages/rdpipe/src/ui/rows.ts': `/** ${'a'.repeat(101)} */` },
      'rows.ts: its first line has more',
    ],
    [
      'a directory without a row',
      { 'packages/rdpipe/src/ui/new/a.ts': '// A\n' },
      'packages/rdpipe/src/ui/new: no row',
    ],
    ['a directory next to src without a row', { 'test/faults/a.ts': '' }, 'test/faults: no row'],
    ['a row without a directory', { 'test/lab/guest/init': undefined }, 'test/lab: a row'],
  ] as const) {
    it(`reports ${what}`, () => {
      const { complaints } = made({ ...whole, ...change });
      expect(complaints).to.have.length(1);
      expect(complaints[0]).to.include(complaint);
    });
  }
});

function made(files: Readonly<Record<string, string | undefined>>) {
  const tree = Object.entries(files).filter((entry): entry is [string, string] => entry[1] !== undefined);
  return makeLayout(new Map(tree), DIRECTORIES);
}
