// SPDX-License-Identifier: Apache-2.0
// A peer that holds the key and breaks the rules, against rdsend and rdrecv in every way to meet, as they are built and with sanitizers.
import { expect } from 'chai';
import { execa } from 'execa';
import { ROOT } from '../support/root.ts';

const VARIANTS = { release: [], asan: ['SAN=address,undefined'] };

describe('rdsend and rdrecv against a peer that holds the key', function () {
  this.timeout(600_000);

  for (const [variant, options] of Object.entries(VARIANTS))
    it(`end in words whatever it does wrong (${variant})`, async () => {
      const suite = `build/${variant}/rdcore-native/test/program_violations_test`;
      await execa('make', ['-s', '-j2', ...options, 'all', suite], { cwd: ROOT });
      const { stdout } = await execa(suite, ['all'], { cwd: ROOT, env: { RD_BIN: `build/${variant}` } });
      expect(stdout).to.match(/^program_violations: \d+ checks$/);
    });
});
