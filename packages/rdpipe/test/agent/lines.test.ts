import { Readable } from 'node:stream';
import { expect } from 'chai';
import fc from 'fast-check';
import { LineTooLongError, readLines } from '../../src/agent/lines.ts';

async function linesOf(chunks: readonly string[], longest = 100): Promise<string[]> {
  const lines: string[] = [];
  for await (const line of readLines(Readable.from(chunks.map((chunk) => Buffer.from(chunk))), longest)) {
    lines.push(line.toString());
  }
  return lines;
}

describe('lines', () => {
  it('are returned complete, however they arrive', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.stringMatching(/^[ab\n]{0,6}$/)), async (chunks) => {
        const wanted = chunks.join('').split('\n');
        if (wanted.at(-1) === '') wanted.pop();
        expect(await linesOf(chunks)).to.deep.equal(wanted);
      }),
    );
  });

  it('may be as long as allowed, and no longer', async () => {
    expect(await linesOf(['1234', '5\n', '12345'], 5)).to.deep.equal(['12345', '12345']);
    for (const chunks of [['123456\n'], ['1234', '56\n'], ['123', '456']]) {
      expect(await linesOf(chunks, 5).catch((error: unknown) => error)).to.be.instanceOf(LineTooLongError);
    }
  });
});
