// SPDX-License-Identifier: Apache-2.0
// The libraries that the programs that are copied to a host need there.
import { join } from 'node:path';
import { expect } from 'chai';
import { execaSync } from 'execa';
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
    // Those of RDMA are opened when they are needed.
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

/** The loader belongs to the C library. */
function librariesOf(program: string): string[] {
  const text = execaSync('readelf', ['--dynamic', '--wide', program]).stdout;
  const names = [...text.matchAll(/\(NEEDED\).*\[(.*)\]/g)].map(([, name = '']) => name);
  return names.filter((name) => !name.startsWith('ld-linux')).sort();
}
