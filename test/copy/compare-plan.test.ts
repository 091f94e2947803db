// SPDX-License-Identifier: Apache-2.0
// rdtree as `compare` with -n: the plan as text and as JSON.
import { expect } from 'chai';
import { enter, file, link, symlink, useCompare } from '../support/compare.ts';
import { jsonLines } from '../support/json-output.ts';
import { END, LEAVE } from '../support/tree-stream.ts';

describe('the plan', () => {
  const on = useCompare();

  it('is text', async () => {
    on.make('file same changed mode; directory d; file d/old; old d');
    const tree = [
      enter('d'),
      file('new', { size: 1536 }),
      enter('e'),
      LEAVE,
      LEAVE,
      file('same'),
      file('changed', { size: 6, seconds: 7 }),
      file('mode', { mode: 0o100600 }),
      link('hard', 'same'),
      symlink('soft', 'there'),
      file('bad\n\x1b[2J\xff', { size: 0 }),
      END,
    ];
    const { text, status, events } = await on.compare(tree, { plan: 'text', remove: true });
    expect(status).to.equal(0);
    expect(events.at(-1)).to.include({ event: 'progress', removed: 1 });
    expect(text.split('\n')).to.deep.equal([
      'new         1.5 KiB  d/new',
      'new                  d/e/',
      'remove               d/old',
      'changed         6 B  changed  (size, time)',
      'metadata             mode  (mode)',
      'link                 hard -> same',
      'new                  soft -> there',
      'new             0 B  bad??[2J?',
      'would copy 3 files, 1.5 KiB; make 1 directory; make 2 links; set metadata of 1; remove 1; 2 are the same',
      '',
    ]);
  });

  it('is JSON', async () => {
    on.make('file x');
    const { text } = await on.compare([file('x', { mode: 0o100600 }), file('\xff', { size: 2 }), END], {
      plan: 'json',
    });
    const none = { directories: 0, links: 0, specials: 0, removed: 0, same: 0, failed: 0 };
    expect(jsonLines(text, 'copyPlan')).to.deep.equal([
      { action: 'metadata', path: 'x', bytes: 0, reasons: ['mode'] },
      { action: 'new', path: '?', path_hex: 'ff', bytes: 2, reasons: ['new'] },
      { totals: { files: 1, bytes: 2, metadata: 1, ...none } },
    ]);
  });

  it('of the target itself, in thousands', async () => {
    on.make('touch -d @1600000000 {1..1234}');
    const many = Array.from({ length: 1234 }, (_, index) => file(`${index + 1}`, { size: 0 }));
    const tree = [enter(''), ...many, LEAVE, { ...END, failures: 1 }];
    const { text } = await on.compare(tree, { plan: 'text', remove: true });
    const totals = 'would copy 0 files, 0 B; set metadata of 1; 1,234 are the same; 1 could not be read';
    expect(text).to.equal(`metadata             ./  (time)\n${totals}\n`);
  });
});
