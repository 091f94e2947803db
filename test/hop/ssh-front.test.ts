// SPDX-License-Identifier: Apache-2.0
// The front of rdssh parses a command line as ssh does, or runs ssh instead.
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { BIN } from '../support/programs.ts';
import { runProgram } from '../support/run-program.ts';
import { sample } from '../support/sample.ts';
import { become, expectAsSsh, LINES, placeStandIns } from './ssh-lines.ts';

/** Lines of the table that are tested at a time; test/full tests all. */
const LINES_AT_ONCE = 50;

describe('the front of rdssh', () => {
  let directory = '';

  before(() => {
    directory = mkdtempSync(join(tmpdir(), 'rdpipe-test-'));
    placeStandIns(directory);
  });

  after(() => rmSync(directory, { recursive: true, force: true }));

  it(`gives ${LINES_AT_ONCE} command lines the same configuration as ssh`, () =>
    expectAsSsh(directory, sample(LINES, LINES_AT_ONCE)));

  for (const line of [
    'h1',
    '-tt h1 ls',
    '-N h1',
    '-W a:1 h1',
    '-D 1 h1 ls',
    '-X h1 ls',
    '-G h1',
    '-V',
    '-O check h1',
    '-o RequestTTY=force h1 ls',
    'h1 -oVisualHostKey=yes ls',
    '-E /nowhere/log h1 ls',
    '-i /nowhere/key h1 ls',
    '-!',
  ])
    it(`leaves to ssh, word by word: ${line}`, () =>
      expect(become(directory, line.split(' '))).to.deep.equal(['ssh', ...line.split(' ')]));

  it('leaves a command to ssh if the working directory was removed', () => {
    const script = 'mkdir "$1/gone" && cd "$1/gone" && rmdir "$1/gone" && shift && exec "$@"';
    const front = [join(BIN, 'rdhop'), 'rdssh', join(directory, 'rdpipe'), '-v', 'h1', 'ls'];
    const env = { PATH: `${directory}/other:/usr/bin:/bin` };
    const { stdout, stderr } = runProgram('bash', ['-c', script, 'bash', directory, ...front], { env, input: '' });
    expect(stdout).to.equal('ssh\n-v\nh1\nls\n');
    expect(stderr).to.include('rdssh: ssh runs this command line: the working directory cannot be entered\n');
  });

  it("leaves rdpipe's options to rdpipe", () =>
    expect(become(directory, ['--persist=0', '-tt', 'h1', 'ls'])).to.deep.equal(['ssh', '-tt', 'h1', 'ls']));

  it('joins no words: words, bytes and empty words arrive', () => {
    const log = join(directory, 'a log');
    const words = become(directory, ['-E', log, '-n', 'h1', 'printf', '%s|', '', "it's", '*']);
    expect(words.slice(words.indexOf('--'))).to.deep.equal([
      '--',
      'command',
      log,
      'h1',
      'printf',
      '%s|',
      '',
      "it's",
      '*',
    ]);
  });

  it('asks ssh for the configuration before node starts, unless a script replaces ssh', () => {
    const config = join(directory, 'config');
    const rdpipe = join(directory, 'asking');
    writeFileSync(config, 'Host h1\n  User configured\n');
    const print = 'fd=$(echo "$RDPIPE_SSH_CONFIG" | head -1); echo "$RDPIPE_SSH_CONFIG"; [ -z "$fd" ] || cat <&"$fd"';
    writeFileSync(rdpipe, `#!/bin/sh\n${print}\n`, { mode: 0o755 });
    const ask = (path: string, ...words: readonly string[]) =>
      runProgram(join(BIN, 'rdhop'), ['rdssh', rdpipe, ...words], { env: { PATH: path }, input: 'untouched' }).stdout;
    const question = ['-G', '-F', config, '-o', 'Port=7', '--', 'h1'];
    const { stdout: answer } = runProgram('/usr/bin/ssh', question);
    const system = '/usr/bin:/bin';
    const asked = ask(system, '-F', config, '-p7', 'h1', 'ls');
    expect(asked.replace(/^\d+\n/, '')).to.equal(`${question.join('\n')}\n${answer}\0`);
    expect(ask(system, '-F', config, '-oNoSuchWord=1', 'h1', 'ls')).to.match(/\nh1\n$/);
    expect(ask(`${directory}/other:${system}`, '-F', config, 'h1', 'ls')).to.equal('\n');
    expect(ask(system, '-F', `${config}\nNL`, 'h1', 'ls')).to.equal('\n');
  });

  it('skips itself under the name of ssh', () => {
    const copy = join(directory, 'copy');
    for (const made of ['bin', 'ssh', 'build/rdpipe', '../links']) mkdirSync(join(copy, made), { recursive: true });
    writeFileSync(join(copy, 'build/rdpipe/rdpipe.cjs'), '');
    for (const program of ['bin/rdpipe', 'ssh/ssh']) writeFileSync(join(copy, program), '#!/bin/sh\n', { mode: 0o755 });
    symlinkSync(join(copy, 'bin/rdpipe'), join(directory, 'links/ssh'));
    const env = { PATH: `${directory}/links:${copy}/ssh` };
    const run = runProgram(join(BIN, 'rdhop'), ['rdssh', join(directory, 'rdpipe'), '-V'], { env });
    expect(run).to.deep.equal({
      status: 255,
      stdout: '',
      stderr: 'rdssh: this command line needs ssh, which is not installed on this machine\n',
    });
  });
});
