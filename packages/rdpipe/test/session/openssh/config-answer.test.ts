// SPDX-License-Identifier: Apache-2.0
import { fstatSync, mkdtempSync, openSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { keepConfigAnswer, takeConfigAnswer } from '../../../src/session/openssh/config-answer.ts';

describe('takeConfigAnswer', () => {
  const directory = mkdtempSync(join(tmpdir(), 'rdpipe-answer-'));
  after(() => rmSync(directory, { recursive: true }));

  function keep(text: string): number {
    const file = join(directory, 'answer');
    writeFileSync(file, text);
    const fd = openSync(file, 'r');
    keepConfigAnswer(`${fd}\n-G\n--\nh1`);
    return fd;
  }

  it('returns the answer once, to the same question', () => {
    const fd = keep('user ann\n\0');
    expect(takeConfigAnswer(['-G', '--', 'h1'])).to.equal('user ann\n');
    expect(() => fstatSync(fd)).to.throw('EBADF');
    expect(takeConfigAnswer(['-G', '--', 'h1'])).to.equal(undefined);
  });

  it('returns no truncated answer, none to another question, and leaves no descriptor', () => {
    const cut = keep('user ann\n');
    expect(takeConfigAnswer(['-G', '--', 'h1'])).to.equal(undefined);
    expect(() => fstatSync(cut)).to.throw('EBADF');
    const other = keep('user ann\n\0');
    expect(takeConfigAnswer(['-G', '-o', 'Port=7', '--', 'h1'])).to.equal(undefined);
    expect(() => fstatSync(other)).to.throw('EBADF');
  });

  it('ignores a value that is not a descriptor', () => {
    for (const value of [undefined, '', 'x\n-G', '999999\n-G']) {
      keepConfigAnswer(value);
      expect(takeConfigAnswer(['-G'])).to.equal(undefined);
    }
  });
});
