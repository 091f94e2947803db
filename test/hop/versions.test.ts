// SPDX-License-Identifier: Apache-2.0
// rdhop runs as rdsend or rdrecv by its name or its first argument;
// --version -v also names the libraries.
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
  ['by its first argument', 'rdhop rdsend --version', `rdsend ${VERSION}\n`],
  ['by its other first argument', 'rdhop rdrecv -V', `rdrecv ${VERSION}\n`],
  ['by its name before its first argument', 'rdsend --version rdrecv', `rdsend ${VERSION}\n`],
  ['for --version', 'rdhop --version', `rdhop ${VERSION}\n`],
] as const;

describe('rdhop', () => {
  for (const [how, words, text] of DISPATCHES)
    it(`finds its role ${how}: ${words}`, () =>
      expect(runAs(words)).to.deep.equal({ status: 0, stdout: text, stderr: '' }));

  for (const words of ['rdhop', 'rdhop rdpipe', 'rdhop rdsends --version', 'rdhop --version -v', 'rdhop --help'])
    it(`shows its usage without a role: ${words}`, () =>
      expect(runAs(words)).to.deep.equal({ status: 2, stdout: '', stderr: USAGE }));

  it('uses the name from the command line in a message', () =>
    expect(runAs('rdhop rdrecv').stderr).to.equal(
      "rdrecv: PORT is needed\nTry 'rdrecv --help' for more information.\n",
    ));
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

  it('names the libraries in a static program', () => {
    const program = join(ROOT, 'build/static/rdsend');
    expect(runProgram(program, ['--version', '-v']).stdout).to.match(libraries('part of the program'));
  });
});

/** Runs rdhop with the first word as its name (argv[0]). */
function runAs(words: string) {
  return runProgram('bash', ['-c', 'exec -a "$1" "$0" "${@:2}"', join(BIN, 'rdhop'), ...words.split(' ')]);
}
