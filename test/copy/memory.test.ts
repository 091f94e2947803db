// SPDX-License-Identifier: Apache-2.0
// A hundred thousand entries are copied within 64 MiB a program; a million in test/full.
import { useLab } from '../support/lab.ts';
import { needsTool } from '../support/needs.ts';
import { expectFlatMemory } from './memory.ts';

const ENTRIES = 100_000;
const LONGEST_MS = 180_000;

describe('a copy of many entries', function () {
  this.timeout(LONGEST_MS);
  const lab = useLab({ longestMs: LONGEST_MS });

  it(`takes little memory for ${ENTRIES}`, async function () {
    needsTool(this, 'rsync');
    await expectFlatMemory(lab, ENTRIES);
  });
});
