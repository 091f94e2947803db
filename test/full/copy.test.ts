// SPDX-License-Identifier: Apache-2.0
// Copies: every kill in every phase, many losses of power, and a million entries in little memory.
import { FAILING_CALLS, nameOfCall, tryFailingCall, useFailingCall } from '../copy/failing-calls.ts';
import { KILL_CELLS, nameOf, tryKill } from '../copy/interruptions.ts';
import { expectFlatMemory } from '../copy/memory.ts';
import { tryPowerLoss } from '../copy/power-loss.ts';
import { useFragileDisk } from '../support/fragile-disk.ts';
import { useLab } from '../support/lab.ts';
import { needsRoot, needsTool } from '../support/needs.ts';
import { patience } from '../support/patience.ts';

const ENTRIES = 1_000_000;
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

  it(`take little memory for ${ENTRIES} entries`, () => expectFlatMemory(lab, ENTRIES, 64 * 1024));

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
