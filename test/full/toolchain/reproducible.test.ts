// SPDX-License-Identifier: Apache-2.0
// The same sources give the same bytes in directories with different names;
// test/full/reproducible builds everything.
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import { execaSync } from 'execa';
import { differences } from '../../support/differences.ts';
import { ROOT } from '../../support/root.ts';

const SOURCES = [
  'Makefile',
  'bin',
  'scripts',
  'packages/rdpipe/package.json',
  'packages/rdpipe/src',
  'packages/rdbase-native/src',
  'packages/rdendpoint-native/src',
];
/** Objects with debug information, one of which calls assert(). */
const OBJECTS = ['ring/ring', 'wire/wire', 'crypto/seal'].map(
  (name) => `build/release/rdendpoint-native/src/${name}.o`,
);

describe('a build', () => {
  let scratch: string;
  let directories: readonly string[];

  before(() => {
    scratch = mkdtempSync(join(ROOT, 'build/twice-'));
    directories = [join(scratch, 'a'), join(scratch, 'a much longer name'.replaceAll(' ', '/'))];
    for (const directory of directories) copySources(directory);
  });
  after(() => rmSync(scratch, { recursive: true }));

  it('produces the same objects in every directory, without its name', () => {
    make(directories[0], { LC_ALL: 'C' });
    make(directories[1], { LC_ALL: 'C.UTF-8', TZ: 'Asia/Tokyo' });
    expect(differencesIn('build/release', /\.d$/)).to.deep.equal([]);
    expectNoDirectory('build/release');
  });

  it('produces the same bundle in every directory, without its name', () => {
    for (const cwd of directories) execaSync('node', ['scripts/bundle.mjs'], { cwd });
    expect(differencesIn('build/rdpipe', /^program\.cache$/)).to.deep.equal([]);
    expectNoDirectory('build/rdpipe');
  });

  /** The npm packages are hard links: esbuild records the real paths of files. */
  function copySources(directory: string): void {
    for (const source of SOURCES) {
      mkdirSync(dirname(join(directory, source)), { recursive: true });
      cpSync(join(ROOT, source), join(directory, source), { recursive: true, verbatimSymlinks: true });
    }
    for (const modules of ['node_modules', 'packages/rdpipe/node_modules'])
      execaSync('cp', ['-al', join(ROOT, modules), join(directory, modules)]);
  }

  function make(cwd: string | undefined, env: Readonly<Record<string, string>>): void {
    execaSync('make', ['-s', '-j2', ...OBJECTS], { cwd: cwd ?? '', env });
  }

  function differencesIn(below: string, ignored: RegExp): string[] {
    const [one = '', other = ''] = directories.map((directory) => join(directory, below));
    return differences(one, other, ignored);
  }

  function expectNoDirectory(below: string): void {
    const [directory = ''] = directories;
    const files = readdirSync(join(directory, below), { recursive: true, withFileTypes: true }).filter((file) =>
      file.isFile(),
    );
    const naming = files.filter(({ parentPath, name }) => readFileSync(join(parentPath, name)).includes(scratch));
    expect(naming.map(({ name }) => name)).to.deep.equal([]);
  }
});
