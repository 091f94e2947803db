// SPDX-License-Identifier: Apache-2.0
// rdhop is rdsend or rdrecv by its name or its first word; with -v, --version names the libraries too.
import { join } from 'node:path';
import { expect } from 'chai';
import { VERSION } from '../../packages/rdpipe/src/model/version.ts';
import { BIN } from '../support/programs.ts';
import { ROOT } from '../support/root.ts';
import { runProgram } from '../support/run-program.ts';

const USAGE = 'Usage: rdhop rdsend|rdrecv|rdforward ... (see man rdsend, man rdrecv)\n';

const DISPATCHES = [
  ['by its name', 'rdsend --version', `rdsend ${VERSION}\n`],
  ['by its other name', 'rdrecv --version', `rdrecv ${VERSION}\n`],
  ['by a path that ends in a name', '/opt/x/rdrecv --version', `rdrecv ${VERSION}\n`],
  ['by its first word', 'rdhop rdsend --version', `rdsend ${VERSION}\n`],
  ['by its other first word', 'rdhop rdrecv -V', `rdrecv ${VERSION}\n`],
  ['by its name before its first word', 'rdsend --version rdrecv', `rdsend ${VERSION}\n`],
  ['for itself alone', 'rdhop --version', `rdhop ${VERSION}\n`],
] as const;

describe('rdhop', () => {
  for (const [how, words, text] of DISPATCHES)
    it(`knows its role ${how}: ${words}`, () =>
      expect(runAs(words)).to.deep.equal({ status: 0, stdout: text, stderr: '' }));

  for (const words of ['rdhop', 'rdhop rdpipe', 'rdhop rdsends --version', 'rdhop --version -v', 'rdhop --help'])
    it(`shows its usage without a role: ${words}`, () =>
      expect(runAs(words)).to.deep.equal({ status: 2, stdout: '', stderr: USAGE }));

  it('names itself as the command line did in a message', () =>
    expect(runAs('rdhop rdrecv').stderr).to.equal('rdrecv: PORT is needed\ntry: rdrecv --help\n'));
});

describe('--version -v', () => {
  const libraries = (where: string) =>
    new RegExp(
      `^rd(?:send|recv) [\\d.]+\\nglibc [\\d.]+, ${where}\\nOpenSSL 3\\.\\S+ .*, ${where}\\n` +
        'zstd [\\d.]+\\njansson [\\d.]+\\nxxHash [\\d.]+\\nRDMA: .+\\n$',
    );

  it('names the libraries of this machine', () => {
    for (const name of ['rdsend', 'rdrecv'])
      expect(runProgram(join(BIN, name), ['--version', '-v']).stdout).to.match(libraries('of this host'));
  });

  it('names those that are in a static program', () => {
    const program = join(ROOT, 'build/static/rdsend');
    expect(runProgram(program, ['--version', '-v']).stdout).to.match(libraries('part of the program'));
  });
});

/** The first word is the name that the program finds itself started by. */
function runAs(words: string) {
  return runProgram('bash', ['-c', 'exec -a "$1" "$0" "${@:2}"', join(BIN, 'rdhop'), ...words.split(' ')]);
}
