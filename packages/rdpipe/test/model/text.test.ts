import { expect } from 'chai';
import fc from 'fast-check';
import { jsonText, printable, printableBytes, printableText, shorten } from '../../src/model/text.ts';

describe('text', () => {
  it('shows control characters as pictures', () => {
    expect(printable('a\n\t\u001b[31m\u007f\u009b')).to.equal('a␊␉␛[31m␡\ufffd');
  });

  it('takes marks of writing direction and separators of lines away', () => {
    expect(printable('a\u202eb\u2066c\u2028d\u200ee')).to.equal('a\ufffdb\ufffdc\ufffdd\ufffde');
  });

  it('takes away what hides: tags, byte order marks, halves of characters', () => {
    expect(printable('a\u061cb\ufeffc\u{e0041}d\ud83de')).to.equal('a\ufffdb\ufffdc\ufffdd\ufffde');
  });

  it('is the same when it is made printable twice, and JSON says it all', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        expect(printable(printable(text))).to.equal(printable(text));
        expect(jsonText(text)).to.equal(printable(jsonText(text)));
        expect(JSON.parse(jsonText(text))).to.equal(text);
      }),
    );
  });

  it('leaves lines and tabs in a text, and is the same otherwise', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        const parts = text.split(/([\t\n\r])/);
        const expected = parts.map((part) => (/^[\t\n\r]$/.test(part) ? part : printable(part)));
        expect(printableText(text)).to.equal(expected.join(''));
      }),
    );
    const all = Array.from({ length: 0x3000 }, (_, code) => String.fromCharCode(code));
    for (const character of all.filter((one) => !/[\t\n\r]/.test(one)))
      expect(printableText(character)).to.equal(printable(character));
  });

  it('leaves what is harmless', () => {
    const text = 'zfs send tank/a@now | grüße 日本 👍';
    expect(printable(text)).to.equal(text);
  });

  it('decodes bytes, whatever they are', () => {
    expect(printableBytes(Buffer.from('grüße\xff'))).to.equal('grüßeÿ');
    expect(printableBytes(Uint8Array.of(0x61, 0xff, 0x00))).to.equal('a\ufffd␀');
    fc.assert(fc.property(fc.uint8Array(), (bytes) => !/\p{Cc}/u.test(printableBytes(bytes))));
  });

  it('shortens by characters', () => {
    expect(shorten('abc', 3)).to.equal('abc');
    expect(shorten('abcd', 3)).to.equal('ab…');
    expect(shorten('👍👍👍', 2)).to.equal('👍…');
  });
});
