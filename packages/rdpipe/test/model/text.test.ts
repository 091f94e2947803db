import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import fc from 'fast-check';
import { jsonText, printable, printableBytes, printableText, shorten, UNSAFE_RANGES } from '../../src/model/text.ts';

describe('text', () => {
  it('shows control characters as pictures', () => {
    expect(printable('a\n\t\u001b[31m\u007f\u009b')).to.equal('a␊␉␛[31m␡\ufffd');
  });

  it('removes marks of writing direction and line separators', () => {
    expect(printable('a\u202eb\u2066c\u2028d\u200ee')).to.equal('a\ufffdb\ufffdc\ufffdd\ufffde');
  });

  it('removes hidden text: tags, byte order marks, halves of characters', () => {
    expect(printable('a\u061cb\ufeffc\u{e0041}d\ud83de')).to.equal('a\ufffdb\ufffdc\ufffdd\ufffde');
  });

  it('removes characters without width', () => {
    expect(printable('a\u200bb\u200cc\u200dd\u2060e')).to.equal('a\ufffdb\ufffdc\ufffdd\ufffde');
  });

  it('removes the same characters as the native programs', () => {
    const header = readFileSync(new URL('../../../rdbase-native/src/base/text_unsafe.h', import.meta.url), 'utf8');
    const ranges = [...header.matchAll(/\{0x(\w+), 0x(\w+)\}/g)].map((found) =>
      found.slice(1).map((digits) => Number.parseInt(digits, 16)),
    );
    expect(UNSAFE_RANGES).to.deep.equal(ranges);
    const isUnsafe = (code: number) => UNSAFE_RANGES.some(([first, last]) => code >= first && code <= last);
    const wrong = [];
    for (let code = 0; code <= 0x10ffff; code++) {
      const character = String.fromCodePoint(code);
      if ((printable(character) !== character) !== isUnsafe(code)) wrong.push(code);
    }
    expect(wrong).to.deep.equal([]);
  });

  it('is the same when made printable twice, and JSON keeps all of it', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        expect(printable(printable(text))).to.equal(printable(text));
        expect(jsonText(text)).to.equal(printable(jsonText(text)));
        expect(JSON.parse(jsonText(text))).to.equal(text);
      }),
    );
  });

  it('keeps lines and tabs in a text, and is otherwise the same', () => {
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

  it('keeps harmless text', () => {
    const text = 'zfs send tank/a@now | grüße 日本 👍';
    expect(printable(text)).to.equal(text);
  });

  it('decodes any bytes', () => {
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
