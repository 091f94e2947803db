// SPDX-License-Identifier: Apache-2.0
// Ten thousand entries are copied in little memory; a million in test/full.
import { useLab } from '../support/lab.ts';
import { needsTool } from '../support/needs.ts';
import { expectFlatMemory } from './memory.ts';

const ENTRIES = 10_000;
/** Twice what the largest of them takes. */
const KIB_MAX = 16 * 1024;

describe('a copy of many entries', () => {
  const lab = useLab();

  it(`takes little memory for ${ENTRIES}`, async function () {
    needsTool(this, 'rsync');
    await expectFlatMemory(lab, { entries: ENTRIES, inEach: ENTRIES }, KIB_MAX);
  });
});
