import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { execaSync } from 'execa';
import { lastWords } from '../../src/parse/binary-string.ts';

describe('binary-string', () => {
  it('takes the last words, also empty ones', () => {
    const cmdline = Buffer.from('node\0--flag\0script\0a\0\0b\0');
    expect(lastWords(cmdline, 3)).to.deep.equal(['a', '', 'b']);
    expect(lastWords(cmdline, 0)).to.deep.equal([]);
  });

  it('refuses a wrong number of words', () => {
    expect(() => lastWords(Buffer.from('node\0'), 2)).to.throw(RangeError);
  });

  it('reads every byte that a shell passes', () => {
    const script = fileURLToPath(new URL('print-raw-argv.ts', import.meta.url));
    const command = `exec "$1" --import tsx "$2" "$(printf 'h1:\\377\\001x')" '' -v`;
    const { stdout } = execaSync('sh', ['-c', command, 'sh', process.execPath, script]);
    expect(JSON.parse(stdout)).to.deep.equal(['h1:\xff\x01x', '', '-v']);
  });
});
