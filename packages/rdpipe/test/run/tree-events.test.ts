import { expect } from 'chai';
import { createTreeEventReader, type TreeLine } from '../../src/run/tree-events.ts';
import { failedPath, hexPath, progress } from './sample.ts';

const WARNING = { event: 'warning', message: 'slow' };

describe('the events of a program of a copy', () => {
  it('are lines, however their bytes arrive', () => {
    const event = { event: 'path', action: 'new', path: hexPath('/d/ü'), bytes: 5 };
    const text = `${JSON.stringify(event)}\n${JSON.stringify(WARNING)}\n${JSON.stringify(progress({ files: 3 }))}\n`;
    for (const pieceBytes of [1, 7, 100, 10_000]) {
      const [first, second, third, ...more] = read(text, pieceBytes);
      expect(first).to.deep.equal({ ...event, path: '/d/ü' });
      expect(second).to.deep.equal(WARNING);
      expect(third).to.deep.include({ event: 'progress', files: 3, path: null, done: true });
      expect(more).to.deep.equal([]);
    }
  });

  it('are harmless: control characters of paths and messages are replaced', () => {
    expect(read(`${JSON.stringify(failedPath('/a\x1b[2J', 'no\nline'))}\n`)).to.deep.equal([
      { event: 'failed', path: '/a␛[2J', code: 'EACCES', message: 'no␊line' },
    ]);
  });

  const strange: readonly (readonly [string, string, string])[] = [
    ['text', 'rdtree: free(): \x1b[31minvalid', 'rdtree: free(): ␛[31minvalid'],
    ['another object', '{"event":"started"}', '{"event":"started"}'],
    ['an event with a field of the wrong type', '{"event":"warning","message":5}', '{"event":"warning","message":5}'],
    ['a path that is not hexadecimal', failedWith('zz'), failedWith('zz')],
    ['a negative number', pathOf(-1), pathOf(-1)],
    ['text that is not UTF-8', '"\xff"', '"\ufffd"'],
  ];
  for (const [name, line, shown] of strange) {
    it(`are not ${name}: that is shown unchanged`, () => {
      const lines = read(
        Buffer.concat([Buffer.from(`${line}\n`, 'latin1'), Buffer.from(`${JSON.stringify(WARNING)}\n`)]),
      );
      expect(lines).to.deep.equal([`${shown}\n`, WARNING]);
    });
  }

  it('may be cut off at the end, and empty lines are ignored', () => {
    expect(read('\n\n{"event":"warn')).to.deep.equal(['{"event":"warn\n']);
  });

  it('are at most 128 KiB: longer lines are shown in pieces, and no piece counts as an event', () => {
    const lines = read(`${'x'.repeat(300_000)}\n${JSON.stringify(WARNING)}\n`, 32_768);
    expect(lines.at(-1)).to.deep.equal(WARNING);
    const text = lines.slice(0, -1).join('').replaceAll('\n', '');
    expect(text).to.equal('x'.repeat(300_000));
    const hidden = read(`${' '.repeat(140_000)}${JSON.stringify(WARNING)}\n`, 35_000);
    expect(hidden.every((line) => typeof line === 'string')).to.equal(true);
  });
});

function failedWith(path: string): string {
  return JSON.stringify({ event: 'failed', path, code: '', message: '' });
}

function pathOf(bytes: number): string {
  return JSON.stringify({ event: 'path', action: 'new', path: '61', bytes });
}

function read(text: string | Uint8Array, pieceBytes = 1000): readonly TreeLine[] {
  const bytes = Buffer.from(text);
  const reader = createTreeEventReader();
  const pieces = Array.from({ length: Math.ceil(bytes.length / pieceBytes) }, (_, index) =>
    bytes.subarray(index * pieceBytes, (index + 1) * pieceBytes),
  );
  return [...pieces.flatMap((piece) => reader.take(piece)), ...reader.rest()];
}
