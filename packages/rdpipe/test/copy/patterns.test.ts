import { expect } from 'chai';
import { readPatterns } from '../../src/copy/patterns.ts';

describe('a file of patterns', () => {
  const LINES: readonly (readonly [string, readonly string[]])[] = [
    ['', []],
    ['a\nb\n', ['- a', '- b']],
    ['a', ['- a']],
    ['# no\n\n  \n\\#x\n', ['- \\#x']],
    ['!keep\n!\n\\!x', ['+ keep', '- \\!x']],
    ['a  \nb\\ \nc\\\\ \n d', ['- a', '- b\\ ', '- c\\\\', '-  d']],
    ['\xef\xbb\xbfa\n\xff', ['- a', '- \xff']],
    ['a\\   ', ['- a\\ ']],
  ];
  for (const [text, patterns] of LINES) {
    it(`reads ${JSON.stringify(text)}`, () =>
      expect(readPatterns(text).map(({ include, pattern }) => `${include ? '+' : '-'} ${pattern}`)).to.deep.equal(
        patterns,
      ));
  }
});
