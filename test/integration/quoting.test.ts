// SPDX-License-Identifier: Apache-2.0
// A command reaches sh on its host unchanged, byte by byte: it prints the same there as here.
import { expect } from 'chai';
import { useLab } from '../support/lab.ts';
import { sample } from '../support/sample.ts';
import { COMMANDS, testUnchanged } from './commands.ts';

describe('a command', () => {
  const lab = useLab();

  testUnchanged(lab, sample(COMMANDS, 9));

  it('passes unchanged when it is not UTF-8', async () => {
    const command = `$(printf "printf '%%s' '\\377\\376\\300\\200 \\351' | od -An -tx1")`;
    const result = await lab.sh(`rdpipe h1:"${command}" h2:cat`);
    expect({ text: result.text, stderr: result.stderr }).to.deep.equal({ text: ' ff fe c0 80 20 e9\n', stderr: '' });
  });

  it('is shown safely in messages when it is not UTF-8 or has control characters', async () => {
    const result = await lab.sh(`rdpipe h1:"$(printf 'exit 3 # \\377 \\033[31m')"`);
    expect(result.status).to.equal(3);
    expect(result.stderr).to.match(/^rdpipe: stage 1 \(h1: exit 3 # /);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: the test checks that none gets through
    expect(result.stderr.trimEnd()).not.to.match(/[\x00-\x1f\x7f]/);
  });

  it('may name any host in brackets and with a user', async () => {
    const result = await lab.sh(`rdpipe "$(id -un)@h1:echo a@b:c"`);
    expect({ text: result.text, stderr: result.stderr }).to.deep.equal({ text: 'a@b:c\n', stderr: '' });
  });
});
