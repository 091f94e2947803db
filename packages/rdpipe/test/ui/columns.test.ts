import { expect } from 'chai';
import fc from 'fast-check';
import { widthOf } from '../../src/model/width.ts';
import { fittingColumns, tableOf, wrap, wrapTable } from '../../src/ui/columns.ts';

const WORDS = fc.array(fc.stringMatching(/^[a-z漢é]{1,12},?$/), { minLength: 1, maxLength: 30 });
const COLUMNS = fc.integer({ min: 40, max: 100 });

describe('lines on a terminal', () => {
  it('break at words, with an indent, and keep the blanks within', () => {
    expect(wrap('the quick  brown fox jumps', 14, 4)).to.deep.equal(['the quick', '    brown fox', '    jumps']);
    expect(wrap('  ok  ssh  login in 0.3 s', 18, 11)).to.deep.equal(['  ok  ssh  login', '      in 0.3 s']);
    expect(wrap('short', 14)).to.deep.equal(['short']);
    expect(wrap('never broken in a pipe')).to.deep.equal(['never broken in a pipe']);
  });

  it('keep a long word, except after an arrow or a comma', () => {
    expect(wrap('see /a/very/long/path/indeed now', 12)).to.deep.equal(['see', '  /a/very/long/path/indeed', '  now']);
    expect(wrap('n1→n2→n3→n4→n5: chain', 12)).to.deep.equal(['n1→n2→n3→n4→', '  n5: chain']);
  });

  it('do not break between a number and its unit', () => {
    expect(wrap('waited 0.2 s, moved 3.0 GiB (at 2.675 GiB/s) 9 seconds', 12)).to.deep.equal([
      ...['waited', '  0.2 s,', '  moved', '  3.0 GiB', '  (at', '  2.675 GiB/s)', '  9 seconds'],
    ]);
  });

  it('fit, and lose no word', () => {
    fc.assert(
      fc.property(WORDS, COLUMNS, (words, columns) => {
        const lines = wrap(words.join(' '), columns);
        for (const line of lines) expect(widthOf(line)).to.be.at.most(columns);
        expect(lines.join(' ').split(/\s+/)).to.deep.equal(words);
      }),
    );
  });
});

describe('tables on a terminal', () => {
  const ROWS = [
    ['h1→h2', 'delivered', '3.0 GiB', 'waited for input, for output'],
    ['h2→h3', 'closed', '17 B', ''],
  ];

  it('put the last cell below, broken at words, then break between cells', () => {
    expect(wrapTable(ROWS, 60)).to.deep.equal([
      'h1→h2  delivered  3.0 GiB  waited for input, for output',
      'h2→h3  closed     17 B',
    ]);
    expect(wrapTable(ROWS, 30)).to.deep.equal([
      'h1→h2  delivered  3.0 GiB',
      '  waited for input, for output',
      'h2→h3  closed     17 B',
    ]);
    expect(wrapTable(ROWS, 20)).to.deep.equal([
      'h1→h2  delivered',
      '  3.0 GiB',
      '  waited for input,',
      '  for output',
      'h2→h3  closed  17 B',
    ]);
  });

  it('leave out the columns that matter least, and those that are empty', () => {
    const table = [
      { rank: 0, cells: ['h1', 'h2'] },
      { rank: 2, cells: ['20 MiB/s', '3 MiB/s'] },
      { rank: 1, cells: ['', ''] },
      { rank: 1, cells: ['42%', '漢字漢字'] },
    ];
    const at = (columns: number) => tableOf(fittingColumns(table, columns));
    expect(at(22)).to.deep.equal(['h1  20 MiB/s  42%', 'h2  3 MiB/s   漢字漢字']);
    expect(at(21)).to.deep.equal(['h1  42%', 'h2  漢字漢字']);
    // The first does not fit, the second does.
    expect(at(12)).to.deep.equal(['h1  42%', 'h2  漢字漢字']);
    expect(at(11)).to.deep.equal(['h1', 'h2']);
  });
});
