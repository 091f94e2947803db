// SPDX-License-Identifier: Apache-2.0
// States of a disk after a power loss during a copy:
// each file is old or complete, the next run completes the copy.
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { FragileDisk } from '../support/fragile-disk.ts';
import type { Lab } from '../support/lab.ts';
import { lots, processSeed } from '../support/sample.ts';
import { InterruptedCopy } from './interruptions.ts';

/** Longest time between two states: longer than it takes to keep a state, shorter than a copy. */
const LONGEST_WAIT_MS = 700;

export async function tryPowerLoss(lab: Lab, disk: FragileDisk, states: number): Promise<void> {
  const copy = new InterruptedCopy(lab, join(disk.directory, 'target'));
  copy.prepare();
  await lab.sh('sync');
  const running = copy.start('--limit 6M');
  await running.reached('begin');
  const kept: number[] = [];
  const next = lots(processSeed());
  while (kept.length < states) {
    await delay(next() % LONGEST_WAIT_MS); // at random moments
    kept.push(disk.keep());
  }
  await running.result;
  await copy.complete();
  for (const state of kept) {
    const target = join(disk.recover(state), 'target');
    copy.expectOldOrNew(target);
    await copy.onto(target).complete();
  }
}
