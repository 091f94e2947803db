// SPDX-License-Identifier: Apache-2.0
// The shared libraries of programs that are copied to hosts, and the licences of linked libraries.
import { join } from 'node:path';
import { expect } from 'chai';
import { execaSync } from 'execa';
import { licenceOf } from '../../scripts/dist/linked-packages.ts';
import { needsFile, needsTool } from '../support/needs.ts';

const BUILD = join(import.meta.dirname, '../../build');

describe('a copied program', () => {
  for (const [program, libraries] of [
    ['static/rdstage', []],
    ['static/rdsend', []],
    ['static/rdrecv', []],
    ['static/rdtree', []],
    ['release/rdstage', ['libc.so.6']],
    ['release/rdtree', ['libc.so.6']],
    // The RDMA libraries are loaded with dlopen() when they are needed.
    ['release/rdsend', ['libc.so.6', 'libcrypto.so.3', 'libssl.so.3']],
    ['release/rdrecv', ['libc.so.6', 'libcrypto.so.3', 'libssl.so.3']],
  ] as const) {
    it(`${program} needs ${libraries.join(', ') || 'no library'}`, function () {
      needsTool(this, 'readelf');
      needsFile(this, join(BUILD, program));
      expect(librariesOf(join(BUILD, program))).to.deep.equal(libraries);
    });
  }
});

describe('the licence of a linked library', () => {
  it('is known of every version of the compiler', () => {
    for (const source of ['gcc-12', 'gcc-13', 'gcc-14', 'gcc-14-cross', 'gcc-15-cross-ports'])
      expect(licenceOf(source), source).to.equal('GPL-3.0-or-later WITH GCC-exception-3.1');
  });

  it('is looked up before another library is linked', () => {
    expect(() => licenceOf('gcc-unheard')).to.throw('gcc-unheard has no row in LICENCES');
  });
});

/** The needed libraries without the loader, which is part of the C library. */
function librariesOf(program: string): string[] {
  const text = execaSync('readelf', ['--dynamic', '--wide', program]).stdout;
  const names = [...text.matchAll(/\(NEEDED\).*\[(.*)\]/g)].map(([, name = '']) => name);
  return names.filter((name) => !name.startsWith('ld-linux')).sort();
}
