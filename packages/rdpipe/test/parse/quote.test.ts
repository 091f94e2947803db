import { expect } from 'chai';
import { execaSync } from 'execa';
import fc from 'fast-check';
import { quoteWord } from '../../src/parse/quote.ts';
import { binary } from './helpers.ts';

describe('quote', () => {
  const WORDS: readonly (readonly [string, string])[] = [
    ['rev', 'rev'],
    ['h1:rev', 'h1:rev'],
    ['h1:tr a-z A-Z', "h1:'tr a-z A-Z'"],
    ['h1:', 'h1:'],
    [':cat', ':cat'],
    [':< in', ":'< in'"],
    ['a b', "'a b'"],
    ['', "''"],
    ["h1:echo it's", `h1:"echo it's"`],
    [`h1:echo "it's" $x`, `h1:'echo "it'\\''s" $x'`],
    ['h1:echo ü ', "h1:'echo ü '"],
    ['h1:a\nb', "h1:$'a\\nb'"],
    ['h1:a\u001b[31m', "h1:$'a\\x1b[31m'"],
    ['a b:c', "'a b:c'"],
  ];
  for (const [word, quoted] of WORDS) {
    it(`writes ${JSON.stringify(word)} as ${quoted}`, () => {
      expect(quoteWord(binary(word))).to.equal(quoted);
    });
  }

  it('writes bytes that are not UTF-8 as escapes', () => {
    expect(quoteWord('h1:\xff\x01')).to.equal("h1:$'\\xff\\x01'");
  });

  it('is read by a shell as the same bytes, on one line', () => {
    const byte = fc.integer({ min: 1, max: 255 }).map((code) => String.fromCharCode(code));
    const words = fc.array(fc.string({ unit: byte, maxLength: 12 }), { minLength: 1, maxLength: 20 });
    fc.assert(
      fc.property(words, (all) => {
        const quoted = all.map(quoteWord);
        expect(quoted.join('')).not.to.match(/\p{Cc}/u);
        const script = `printf '%s\\0' ${quoted.join(' ')}`;
        const options = { env: { LC_ALL: 'C' }, extendEnv: false, encoding: 'latin1' } as const;
        expect(execaSync('bash', ['-c', script], options).stdout).to.equal(all.map((word) => `${word}\0`).join(''));
      }),
      { numRuns: 30 },
    );
  });
});
