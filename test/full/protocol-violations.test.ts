// SPDX-License-Identifier: Apache-2.0
// Protocol violations by a peer that has the key, against rdsend and rdrecv,
// for each role and encryption, also with sanitizers.
import { expect } from 'chai';
import { execa } from 'execa';
import { patience } from '../support/patience.ts';
import { ROOT } from '../support/root.ts';

const VARIANTS = { release: [], asan: ['SAN=address,undefined'] };

describe('rdsend and rdrecv against a peer that holds the key', function () {
  this.timeout(patience(600_000));

  for (const [variant, options] of Object.entries(VARIANTS))
    it(`end with an error after each protocol violation (${variant})`, async () => {
      const suite = `build/${variant}/rdhop-native/test/program_violations_test`;
      await execa('make', ['-s', '-j2', ...options, 'all', suite], { cwd: ROOT });
      const { stdout } = await execa(suite, ['all'], { cwd: ROOT, env: { RD_BIN: `build/${variant}` } });
      expect(stdout).to.match(/^program_violations: \d+ checks$/);
    });
});
