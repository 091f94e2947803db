import { expect } from 'chai';
import fc from 'fast-check';
import { runProgram } from '../../../../test/support/run-program.ts';
import { endOfWord } from '../../src/parse/word-end.ts';

describe('word-end', () => {
  /** A bar marks the end of the word; without a bar, no word begins. */
  const WORDS: readonly string[] = [
    'file|',
    'file| other',
    'a/b~c|',
    '~/in|',
    '2|',
    '$VAR/x|',
    '${VAR}|',
    '${VAR:-a b}| c',
    '${VAR:-${OTHER:-}}|',
    '"a b"| c',
    "'a b'| c",
    '\'a\'"b"c|',
    'a\\ b| c',
    '"a\\"b"|',
    '"$(echo ")")"|',
    '$(cmd a b)| c',
    '$(cmd "a)" \'b)\')|',
    '$((1 + (2)))|',
    '$(echo $(date))|',
    '`date +%s`| x',
    '`echo \\`date\\``|',
    '"`echo "a b"`"|',
    'a\\\nb|',
    '$|',
    '$x$y|',
    'a#b|',
    'a|&',
    'a|;b',
    'a|(b',
    'a|>b',
    'ä|',
    '',
    ' ',
    '#comment',
    '&2',
    '(cmd)',
    '<',
    '|',
    '"open',
    "'open",
    '`open',
    '${open',
    '$(open',
    '$("open)',
    'a\\',
    'a"b',
  ];
  for (const marked of WORDS) {
    it(`reads ${JSON.stringify(marked)}`, () => {
      const bar = marked.lastIndexOf('|');
      const isWord = bar > 0;
      const text = isWord ? marked.slice(0, bar) + marked.slice(bar + 1) : marked;
      expect(endOfWord(text, 0)).to.equal(isWord ? bar : undefined);
    });
  }

  it('begins at the given position', () => {
    expect(endOfWord('< "a b" c', 2)).to.equal(7);
  });

  it('never throws, and ends after its start and within the text', () => {
    const piece = fc.constantFrom('a', ' ', '\n', '\\', '"', "'", '`', '$', '{', '}', '(', ')', '<', '>', '#', 'é');
    fc.assert(
      fc.property(
        fc.array(piece, { maxLength: 30 }).map((pieces) => pieces.join('')),
        (text) => {
          const end = endOfWord(text, 0);
          if (end !== undefined) expect(end).to.be.within(1, text.length);
        },
      ),
    );
  });

  it('treats every quoted text as one word', () => {
    const quoted = fc.string({ unit: 'binary' }).map((text) => `'${text.replaceAll("'", `'\\''`)}'`);
    fc.assert(
      fc.property(quoted, (word) => {
        expect(endOfWord(word, 0)).to.equal(word.length);
        expect(endOfWord(`${word} more`, 0)).to.equal(word.length);
      }),
    );
  });

  it('agrees with sh on the end of a word', () => {
    const piece = fc.constantFrom(
      'a',
      'b',
      ' ',
      '\\',
      '"',
      "'",
      '$1',
      '${1}',
      '${1:-a b}',
      '$(echo c d)',
      '`echo e`',
      '#',
    );
    const text = fc.array(piece, { minLength: 1, maxLength: 6 }).map((pieces) => pieces.join(''));
    fc.assert(
      fc.property(text, (word) => {
        // sh ignores a trailing backslash; to sh, a comment is neither a word nor an error.
        fc.pre(!/\\$|(^| )#/.test(word) && word.trim() === word);
        expect(endOfWord(word, 0) === word.length).to.equal(isOneWordForSh(word));
      }),
      { numRuns: 60 },
    );
  });
});

/** True if sh, without field splitting and globbing, makes one parameter from the text. */
function isOneWordForSh(word: string): boolean {
  const script = `set -f; IFS=; count() { echo $#; }; set -- y; count ${word}\n`;
  const { status, stdout } = runProgram('sh', ['-c', script], { stdin: 'ignore' });
  return status === 0 && stdout === '1\n';
}
