// SPDX-License-Identifier: Apache-2.0
// The completion files of shells complete options, values and hosts.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { execaSync } from 'execa';
import { ROOT } from '../support/root.ts';

const FILES = join(ROOT, 'contrib/completion');

describe('completion', () => {
  let home: string;

  before(() => {
    home = mkdtempSync(join(tmpdir(), 'rdpipe-test-completion-'));
    mkdirSync(join(home, '.ssh'));
    writeFileSync(join(home, '.ssh/config'), 'Host box1 box2\nHost *\n  Port 22\n');
    writeFileSync(join(home, 'notes.txt'), '');
  });
  after(() => rmSync(home, { recursive: true }));

  /** The words that bash offers for the last one. */
  function complete(...words: readonly string[]): readonly string[] {
    const script = `. "$0"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); "_$1"; printf '%s\\n' "\${COMPREPLY[@]}"`;
    const run = execaSync('bash', ['-c', script, join(FILES, 'rdpipe.bash'), ...words], {
      cwd: home,
      env: { HOME: home },
    });
    return run.stdout.split('\n');
  }

  const CASES: readonly (readonly [string, readonly string[]])[] = [
    ['rdcp --del', ['--delete']],
    ['rdcp -a --no-pa', ['--no-partial']],
    ['rdcp --transport r', ['rdma']],
    ['rdcp --files-from no', ['notes.txt']],
    ['rdcp --exclude no', ['']],
    ['rdcp box', ['box1:', 'box2:']],
    ['rdcp -r no', ['notes.txt']],
    ['rdpipe --delete', ['']],
    ['rdpipe --stdin n', ['none']],
    ['rdpipe do', ['doctor']],
    ['rdpipe doctor box', ['box1', 'box2']],
    ['rdpipe bench --rou', ['--rounds']],
  ];
  for (const [line, words] of CASES) {
    it(`offers bash ${words.join(' ') || 'nothing'} for ${line}`, () =>
      expect(complete(...line.split(' '))).to.deep.equal(words));
  }

  it('is correct for zsh', function () {
    if (execaSync('sh', ['-c', 'command -v zsh'], { reject: false }).failed) this.skip();
    expect(execaSync('zsh', ['-n', join(FILES, '_rdpipe')]).stderr).to.equal('');
  });
});
