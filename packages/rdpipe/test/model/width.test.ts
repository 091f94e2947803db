import { expect } from 'chai';
import { cutBeginning, cutEnd, padTo, widthOf } from '../../src/model/width.ts';

describe('the width of text', () => {
  for (const [text, columns] of [
    ['h1', 2],
    ['h1→h2 µs', 8],
    ['漢字', 4],
    ['e\u0301te\u0301', 3],
    ['\u{1f600}', 2],
    ['\u001b[31mfail\u001b[39m', 4],
  ] as const)
    it(`of ${JSON.stringify(text)} is ${columns}`, () => expect(widthOf(text)).to.equal(columns));

  it('is kept when text is cut or padded', () => {
    expect([cutEnd('漢字/b', 6), cutEnd('漢字/b', 5), cutEnd('漢字/b', 4), cutEnd('ab', 0)]).to.deep.equal([
      ...['漢字/b', '漢字…', '漢…', ''],
    ]);
    expect([cutBeginning('漢字/b', 6), cutBeginning('漢字/b', 5), cutBeginning('漢字/b', 4)]).to.deep.equal([
      ...['漢字/b', '…字/b', '…/b'],
    ]);
    expect([padTo('漢', 4), padTo('abc', 2)]).to.deep.equal(['漢  ', 'abc']);
  });
});
