// SPDX-License-Identifier: Apache-2.0
// Shipped programs are hardened, so that a memory error ends them. Checks the files, not the Makefile.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { execaSync } from 'execa';
import { THIS_PLATFORM } from '../../packages/rdpipe/src/agent/locate.ts';
import { needsFile, needsTool } from '../support/needs.ts';
import { checksBranches, expectBranchesChecked, expectGuards, expectLoadedAnywhere } from '../support/protections.ts';
import { ROOT } from '../support/root.ts';
import { runProgram } from '../support/run-program.ts';

const BUILD = join(ROOT, 'build');
const PROGRAMS = ['rdstage', 'rdhop', 'rdtree'];
const BUILT = ['release', 'static'].flatMap((kind) => PROGRAMS.map((name) => `${kind}/${name}`));
const SHIPPED = ['dynamic', 'static'].flatMap((kind) =>
  PROGRAMS.map((name) => `rdpipe/native/${THIS_PLATFORM}/${kind}/${name}`),
);

describe('a built program', () => {
  for (const program of [...BUILT, ...SHIPPED])
    it(`${program} can be loaded anywhere, and is read-only once loaded`, function () {
      expectLoadedAnywhere(built(this, program));
    });

  for (const program of BUILT)
    it(`${program} detects writes past the end of a stack or a buffer`, function () {
      expectGuards(built(this, program));
    });

  it('is protected from wrong branches: all objects are, and the programs if the C library is', function () {
    const archive = built(this, 'release/librdendpoint.a');
    expectBranchesChecked(archive);
    const start = execaSync('cc', ['-print-file-name=Scrt1.o']).stdout;
    if (checksBranches(start)) expect(checksBranches(built(this, 'release/rdstage'))).to.equal(true);
  });
});

describe("the Makefile honours the user's flags", () => {
  let directory: string;
  before(() => {
    directory = mkdtempSync(join(tmpdir(), 'rdpipe-flags-'));
  });
  after(() => rmSync(directory, { recursive: true }));

  it('CPPFLAGS in each compilation, also of headers; LDFLAGS in each link', () => {
    const flags = ['CPPFLAGS=-DRD_OF_THE_USER', 'CFLAGS=-O1', 'LDFLAGS=-Wl,--of-the-user'];
    const commands = make('-n', `OUT=${directory}/none`, ...flags, 'all', 'test-programs', 'fuzz-programs').split('\n');
    const compile = commands.filter((line) => / -c -o /.test(line));
    const link = commands.filter(
      (line) => / -o \S*\/(rd\w+|\w+_test|\w+_fuzz) /.test(line) && !/ -c -o |^strip /.test(line),
    );
    expect(compile).to.have.length.above(100);
    expect(link).to.have.length.above(20);
    expect(compile.filter((line) => !line.includes('-DRD_OF_THE_USER'))).to.deep.equal([]);
    expect(link.filter((line) => !/-pie .*-Wl,--of-the-user/.test(line))).to.deep.equal([]);
    const { status, stderr } = runProgram('make', ['-s', 'headers', 'CPPFLAGS=-DRD_H -include none.h'], {
      cwd: ROOT,
    });
    expect(status).to.equal(2);
    expect(stderr).to.contain('none.h: No such file');
  });

  it('has the protections whatever CFLAGS are, FORTIFY if it works', () => {
    const flagsOf = (...words: string[]) => make('-n', `OUT=${directory}/none`, ...words, `${directory}/none/rdstage`);
    expect(flagsOf('CFLAGS=-O3')).to.contain('-fstack-protector-strong').and.contain('-D_FORTIFY_SOURCE=3');
    expect(flagsOf('CFLAGS=-O2 -O0')).to.contain('-fstack-protector-strong').and.not.contain('FORTIFY');
    expect(flagsOf('SAN=address,undefined')).to.contain('-fstack-protector-strong').and.not.contain('FORTIFY');
    expect(flagsOf('CPPFLAGS=-D_FORTIFY_SOURCE=2')).to.contain('FORTIFY_SOURCE=2').and.not.contain('FORTIFY_SOURCE=3');
  });

  it('leaves out flags that the compiler does not know', () => {
    const compiler = join(directory, 'old-cc');
    const script = '#!/bin/sh\ncase "$*" in *-fcf-protection*) exit 1;; esac\nexec cc "$@"\n';
    writeFileSync(compiler, script, { mode: 0o755 });
    expect(make('-n', `OUT=${directory}/none`, `CC=${compiler}`, `${directory}/none/rdstage`))
      .to.contain('-fstack-clash-protection')
      .and.not.contain('-fcf-protection');
  });
});

function built(test: Mocha.Context, name: string): string {
  needsTool(test, 'readelf');
  needsFile(test, join(BUILD, name));
  return join(BUILD, name);
}

function make(...words: string[]): string {
  return execaSync('make', ['-s', ...words], { cwd: ROOT }).stdout;
}
