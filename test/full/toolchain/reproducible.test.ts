// SPDX-License-Identifier: Apache-2.0
// The same sources give the same bytes in folders of different names; test/full/reproducible builds everything.
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
/** Objects with their debug information, of which one calls assert(). */
const OBJECTS = ['ring/ring', 'wire/wire', 'crypto/seal'].map(
  (name) => `build/release/rdendpoint-native/src/${name}.o`,
);

describe('a build', () => {
  let scratch: string;
  let folders: readonly string[];

  before(() => {
    scratch = mkdtempSync(join(ROOT, 'build/twice-'));
    folders = [join(scratch, 'a'), join(scratch, 'a much longer name'.replaceAll(' ', '/'))];
    for (const folder of folders) copySources(folder);
  });
  after(() => rmSync(scratch, { recursive: true }));

  it('makes the same objects in every folder, which do not name it', () => {
    make(folders[0], { LC_ALL: 'C' });
    make(folders[1], { LC_ALL: 'C.UTF-8', TZ: 'Asia/Tokyo' });
    expect(differencesIn('build/release', /\.d$/)).to.deep.equal([]);
    expectNoFolder('build/release');
  });

  it('makes the same bundle in every folder, which does not name it', () => {
    for (const cwd of folders) execaSync('node', ['scripts/bundle.mjs'], { cwd });
    expect(differencesIn('build/rdpipe', /^program\.cache$/)).to.deep.equal([]);
    expectNoFolder('build/rdpipe');
  });

  /** Packages as second names of their files: esbuild notes where they really are. */
  function copySources(folder: string): void {
    for (const source of SOURCES) {
      mkdirSync(dirname(join(folder, source)), { recursive: true });
      cpSync(join(ROOT, source), join(folder, source), { recursive: true, verbatimSymlinks: true });
    }
    for (const modules of ['node_modules', 'packages/rdpipe/node_modules'])
      execaSync('cp', ['-al', join(ROOT, modules), join(folder, modules)]);
  }

  function make(cwd: string | undefined, env: Readonly<Record<string, string>>): void {
    execaSync('make', ['-s', '-j2', ...OBJECTS], { cwd: cwd ?? '', env });
  }

  function differencesIn(below: string, ignored: RegExp): string[] {
    const [one = '', other = ''] = folders.map((folder) => join(folder, below));
    return differences(one, other, ignored);
  }

  function expectNoFolder(below: string): void {
    const [folder = ''] = folders;
    const files = readdirSync(join(folder, below), { recursive: true, withFileTypes: true }).filter((file) =>
      file.isFile(),
    );
    const naming = files.filter(({ parentPath, name }) => readFileSync(join(parentPath, name)).includes(scratch));
    expect(naming.map(({ name }) => name)).to.deep.equal([]);
  }
});
