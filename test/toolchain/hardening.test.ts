// SPDX-License-Identifier: Apache-2.0
// Shipped programs are built so that a mistake in them ends them: protections read from the files, not the Makefile.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { execaSync } from 'execa';
import { needs, needsFile, needsTool } from '../support/needs.ts';
import { ROOT } from '../support/root.ts';
import { runProgram } from '../support/run-program.ts';

const BUILD = join(ROOT, 'build');
const PROGRAMS = ['rdstage', 'rdhop', 'rdtree'];
const BUILT = ['release', 'static'].flatMap((kind) => PROGRAMS.map((name) => `${kind}/${name}`));
const SHIPPED = ['release', 'static'].flatMap((kind) => PROGRAMS.map((name) => `${kind}/deploy/${name}`));
/** x86: jumps land where they may, returns go where they came from. */
const BRANCHES = /x86 feature: IBT, SHSTK/;

describe('a built program', () => {
  for (const program of [...BUILT, ...SHIPPED]) {
    it(`${program} can be loaded anywhere, and is read-only once it is`, function () {
      const file = built(this, program);
      expect(readelf('--file-header', file)).to.match(/Type: +DYN /);
      const dynamic = readelf('--dynamic', file);
      expect(dynamic)
        .to.match(/\(FLAGS\) +.*BIND_NOW/)
        .and.match(/\(FLAGS_1\) +Flags: .*NOW.*PIE/);
      // The libraries that are linked in were compiled to be moved as well: no code is changed at the start.
      expect(dynamic).not.to.match(/TEXTREL|RPATH|RUNPATH/);
      const segments = readelf('--program-headers', file);
      expect(segments)
        .to.match(/GNU_RELRO +.* R +0x/)
        .and.match(/GNU_STACK +.* RW +0x/)
        .and.not.match(/ RWE +0x/);
    });
  }

  for (const program of BUILT) {
    it(`${program} notices a stack or a buffer that was written past its end`, function () {
      const symbols = readelf('--symbols', built(this, program));
      expect(symbols)
        .to.match(/ __stack_chk_fail\b/)
        .and.match(/ __(read|memcpy|snprintf|vsnprintf|fdelt|poll)_chk\b/);
    });
  }

  it('takes no wrong branch on an x86: so are all our objects, and the programs where the C library is', function () {
    needs(this, process.arch === 'x64' ? undefined : `${process.arch} has no such property`);
    const archive = built(this, 'release/librdcore.a');
    const objects = readelf('--notes', archive)
      .split(/^File: /m)
      .slice(1);
    expect(objects).to.have.length.above(50);
    expect(objects.filter((notes) => !BRANCHES.test(notes))).to.deep.equal([]);
    const start = execaSync('cc', ['-print-file-name=Scrt1.o']).stdout;
    if (BRANCHES.test(readelf('--notes', start)))
      expect(readelf('--notes', built(this, 'release/rdstage'))).to.match(BRANCHES);
  });
});

describe("the Makefile honours the user's flags", () => {
  let folder: string;
  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'rdpipe-flags-'));
  });
  after(() => rmSync(folder, { recursive: true }));

  it('CPPFLAGS in each compilation, of headers too; LDFLAGS in each link', () => {
    const flags = ['CPPFLAGS=-DRD_OF_THE_USER', 'CFLAGS=-O1', 'LDFLAGS=-Wl,--of-the-user'];
    const commands = make('-n', `OUT=${folder}/none`, ...flags, 'all', 'test-programs', 'fuzz-programs').split('\n');
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

  it('has the protections whatever CFLAGS are, FORTIFY where it works', () => {
    const flagsOf = (...words: string[]) => make('-n', `OUT=${folder}/none`, ...words, `${folder}/none/rdstage`);
    expect(flagsOf('CFLAGS=-O3')).to.contain('-fstack-protector-strong').and.contain('-D_FORTIFY_SOURCE=3');
    expect(flagsOf('CFLAGS=-O2 -O0')).to.contain('-fstack-protector-strong').and.not.contain('FORTIFY');
    expect(flagsOf('SAN=address,undefined')).to.contain('-fstack-protector-strong').and.not.contain('FORTIFY');
    expect(flagsOf('CPPFLAGS=-D_FORTIFY_SOURCE=2')).to.contain('FORTIFY_SOURCE=2').and.not.contain('FORTIFY_SOURCE=3');
  });

  it('leaves out what the compiler does not know', () => {
    const compiler = join(folder, 'old-cc');
    const script = '#!/bin/sh\ncase "$*" in *-fcf-protection*) exit 1;; esac\nexec cc "$@"\n';
    writeFileSync(compiler, script, { mode: 0o755 });
    expect(make('-n', `OUT=${folder}/none`, `CC=${compiler}`, `${folder}/none/rdstage`))
      .to.contain('-fstack-clash-protection')
      .and.not.contain('-fcf-protection');
  });
});

function built(test: Mocha.Context, name: string): string {
  needsTool(test, 'readelf');
  needsFile(test, join(BUILD, name));
  return join(BUILD, name);
}

function readelf(what: string, file: string): string {
  return execaSync('readelf', [what, '--wide', file], { maxBuffer: 1 << 28 }).stdout;
}

function make(...words: string[]): string {
  return execaSync('make', ['-s', ...words], { cwd: ROOT }).stdout;
}
