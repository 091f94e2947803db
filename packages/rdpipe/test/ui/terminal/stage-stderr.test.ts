import { expect } from 'chai';
import fc from 'fast-check';
import type { Settings } from '../../../src/model/settings.ts';
import { createStageStderr, stagePrefixes, stderrMode } from '../../../src/ui/terminal/stage-stderr.ts';
import { createPage, planFor } from '../helpers.ts';

/** The output if the stages of `words` write these texts, one after another. */
function shown(
  mode: Settings['stderr'],
  words: readonly string[],
  said: readonly (readonly [number, string])[],
  isTerminal = false,
  prefix = true,
): string {
  const page = createPage();
  const plan = planFor(words);
  const stderr = createStageStderr(stderrMode({ stderr: mode, prefix, isTerminal }, plan), plan, page.write);
  for (const [stage, text] of said) stderr.data(stage, Buffer.from(text, 'latin1'));
  stderr.end();
  return page.text;
}

const TWO = ['h1:a', 'h2:b'];

describe('stage-stderr', () => {
  it('names the host, and the stage if a host has several', () => {
    expect([...stagePrefixes(planFor(['h1:a', 'h2:b', 'h1:c', ':d']))]).to.deep.equal([
      [1, 'h1/1: '],
      [2, 'h2: '],
      [3, 'h1/3: '],
      [4, 'this machine: '],
    ]);
  });

  it('adds prefixes by default only with two or more stages', () => {
    expect(shown('auto', TWO, [[1, 'x\n']])).to.equal('h1: x\n');
    expect(shown('auto', ['h1:a'], [[1, 'x\n']])).to.equal('x\n');
    expect(shown('auto', TWO, [[1, 'x\n']], false, false)).to.equal('x\n');
    expect(shown('prefix', ['h1:a'], [[1, 'x\n']])).to.equal('h1: x\n');
  });

  it('drops everything when it is off', () => {
    expect(shown('off', TWO, [[1, 'x\n']])).to.equal('');
  });

  it('passes every byte unchanged when raw', () => {
    const page: Uint8Array[] = [];
    const stderr = createStageStderr('raw', planFor(TWO), (bytes) => page.push(Buffer.from(bytes)));
    const said = Uint8Array.from({ length: 256 }, (_, index) => index);
    stderr.data(1, said);
    stderr.end();
    expect(Buffer.concat(page)).to.deep.equal(Buffer.from(said));
  });

  it('keeps the lines of stages separate', () => {
    const said = [
      [1, 'on'],
      [2, 'two\nthr'],
      [1, 'e\n'],
      [2, 'ee'],
    ] as const;
    expect(shown('auto', TWO, said)).to.equal('h2: two\nh1: one\nh2: three\n');
  });

  it('treats a carriage return as the end of a line, and one with a newline as one', () => {
    expect(
      shown('auto', TWO, [
        [1, '10%\r20%\r'],
        [1, '\nnext\r\nlast'],
      ]),
    ).to.equal('h1: 10%\nh1: 20%\nh1: next\nh1: last\n');
    expect(shown('auto', TWO, [[1, 'a\n\nb\n']])).to.equal('h1: a\nh1: \nh1: b\n');
  });

  it('makes escape sequences and control characters harmless, and leaves tabs', () => {
    expect(shown('auto', TWO, [[1, '\u001b]0;title\u0007\tx\b\x9b2J\n']])).to.equal('h1: ␛]0;title␇\tx␈\ufffd2J\n');
  });

  it('makes them harmless for a single stage too on a terminal, and shows output at once', () => {
    const said = [[1, '\u001b[2Ja\tb\r\n? \xc2']] as const;
    expect(shown('auto', ['h1:a'], said, true)).to.equal('␛[2Ja\tb\r\n? \ufffd');
    expect(shown('auto', ['h1:a'], said, false)).to.equal('\u001b[2Ja\tb\r\n? \ufffd');
    expect(shown('raw', ['h1:a'], [[1, '\u001b[2J']], true)).to.equal('\u001b[2J');
    expect(
      shown(
        'auto',
        ['h1:a'],
        [...Buffer.from('\u202eä\u009b1m').toString('latin1')].map((byte) => [1, byte]),
        true,
      ),
    ).to.equal('\ufffdä\ufffd1m');
  });

  it('joins characters that arrived in pieces', () => {
    const bytes = Buffer.from('grüße\n').toString('latin1');
    const said = [...bytes].map((byte) => [1, byte] as const);
    expect(shown('auto', TWO, said)).to.equal('h1: grüße\n');
    expect(shown('auto', TWO, [[1, '\xc3']])).to.equal('h1: \ufffd\n');
  });

  it('shows an endless line in pieces', () => {
    const pieces = shown('auto', TWO, [
      [1, 'x'.repeat(5000)],
      [1, 'x'.repeat(5000)],
    ]).split('\n');
    expect(pieces.map((piece) => piece.length)).to.deep.equal([4 + 4096, 4 + 4096, 4 + 1808, 0]);
  });

  it('writes all lines of a message at once', () => {
    const writes: string[] = [];
    const stderr = createStageStderr(
      'prefix',
      planFor(TWO),
      (text) => writes.push(`${text}`),
      (prefix) => `$&${prefix}`,
    );
    stderr.data(1, Buffer.from('a\nb\n'.repeat(5000)));
    stderr.data(1, Buffer.from('c'));
    expect(writes).to.deep.equal(['$&h1: a\n$&h1: b\n'.repeat(5000)]);
    stderr.end();
    expect(writes.slice(1)).to.deep.equal(['$&h1: c\n']);
  });

  it('shows all output, however it is split', () => {
    const pieces = fc.array(fc.string({ unit: fc.constantFrom('a', 'ä', '\n', '\r', '\t') }));
    fc.assert(
      fc.property(pieces, (texts) => {
        const said = texts.map((text) => [1, Buffer.from(text).toString('latin1')] as const);
        const whole = texts.join('').split(/\r\n|\r|\n/);
        const lines = whole.at(-1) === '' ? whole.slice(0, -1) : whole;
        expect(shown('prefix', TWO, said)).to.equal(lines.map((line) => `h1: ${line}\n`).join(''));
      }),
    );
  });
});
