// SPDX-License-Identifier: Apache-2.0
// Copies: every kill in every phase, many losses of power, a million entries and large attributes in little memory.
import { FAILING_CALLS, nameOfCall, tryFailingCall, useFailingCall } from '../copy/failing-calls.ts';
import { KILL_CELLS, nameOf, tryKill } from '../copy/interruptions.ts';
import { expectFlatMemory, expectFlatMemoryOfAttributes } from '../copy/memory.ts';
import { tryPowerLoss } from '../copy/power-loss.ts';
import { useFragileDisk } from '../support/fragile-disk.ts';
import { useLab } from '../support/lab.ts';
import { useLoopDisk } from '../support/loop-disk.ts';
import { needsRoot, needsTool } from '../support/needs.ts';
import { patience } from '../support/patience.ts';

const ENTRIES = 1_000_000;
/** Their attributes are 160 MiB. */
const ENTRIES_WITH_ATTRIBUTES = 40;
const KIB_MAX = 64 * 1024;
const POWER_LOSSES = 8;
const COPIES = 5;
const LONGEST_MS = 1_800_000;

describe('copies', function () {
  this.timeout(patience(LONGEST_MS));
  const lab = useLab({ longestMs: LONGEST_MS });
  before(function () {
    needsRoot(this);
    needsTool(this, 'rsync');
  });

  for (const inEach of [50_000, ENTRIES / 2])
    it(`take little memory for ${ENTRIES} entries, ${inEach} in a directory`, () =>
      expectFlatMemory(lab, { entries: ENTRIES, inEach }, KIB_MAX));

  describe('of many attributes', () => {
    const disk = useLoopDisk('600M', ['-O', 'ea_inode']);
    it('take little memory', () => expectFlatMemoryOfAttributes(lab, disk.directory, ENTRIES_WITH_ATTRIBUTES, KIB_MAX));
  });

  for (const cell of KILL_CELLS) it(`survive kill -9, ${nameOf(cell)}`, () => tryKill(lab, cell));

  describe('on a disk that fails in', () => {
    const program = useFailingCall();
    for (const cell of FAILING_CALLS)
      it(`${nameOfCall(cell)}: the copy fails, and the next one is complete`, () => tryFailingCall(lab, program, cell));
  });

  describe('on a disk that loses its power', () => {
    const disk = useFragileDisk();
    for (let number = 1; number <= COPIES; number += 1)
      it(`are complete or unchanged, ${POWER_LOSSES} times in copy ${number}`, () =>
        tryPowerLoss(lab, disk(), POWER_LOSSES));
  });
});
