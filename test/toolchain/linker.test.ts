// SPDX-License-Identifier: Apache-2.0
// The static build hides only linker warnings about functions of libcrypto that no program calls.
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { execaSync } from 'execa';
import { ROOT } from '../support/root.ts';
import { runProgram } from '../support/run-program.ts';

describe('the static build', () => {
  let out: string;

  /** Copies the up-to-date objects without the program. */
  before(() => {
    out = mkdtempSync(join(ROOT, 'build/linker-'));
    cpSync(join(ROOT, 'build/static'), out, { recursive: true, preserveTimestamps: true });
    rmSync(join(out, 'rdhop'));
  });
  after(() => rmSync(out, { recursive: true }));

  it('prints no warning that does not apply', () => {
    expect(link()).to.deep.equal({ status: 0, stderr: '' });
  });

  it("prints the linker's warning about a function that is called", () => {
    const stderr = linkWith(
      '#include <pwd.h>\nstruct passwd *of_users(void); struct passwd *of_users(void) { return getpwuid(0); }',
    );
    expect(stderr)
      .to.match(/in function `of_users'/)
      .and.to.match(/warning: Using 'getpwuid' in statically linked/);
    expect(stderr).not.to.contain('libcrypto');
  });

  it('fails, with the reason, if a function is missing', () => {
    expect(linkWith('void missing(void); void calls(void); void calls(void) { missing(); }')).to.contain('undefined');
  });

  /** Links the program with one more object; returns the linker's messages. */
  function linkWith(source: string): string {
    const [file, object] = [join(out, 'more.c'), join(out, 'more.o')];
    writeFileSync(file, source);
    execaSync('cc', ['-c', '-o', object, file]);
    rmSync(join(out, 'rdhop'), { force: true });
    return link(`LDFLAGS=${object}`).stderr;
  }

  function link(...words: string[]) {
    const line = ['-s', 'STATIC=1', `OUT=${out}`, ...words, join(out, 'rdhop')];
    const { status, stderr } = runProgram('make', line, { cwd: ROOT });
    return { status, stderr };
  }
});
