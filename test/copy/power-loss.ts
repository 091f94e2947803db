// SPDX-License-Identifier: Apache-2.0
// The states in which a loss of power during a copy leaves a disk: each file is old or whole, the next run completes.
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { FragileDisk } from '../support/fragile-disk.ts';
import type { Lab } from '../support/lab.ts';
import { lots, processSeed } from '../support/sample.ts';
import { InterruptedCopy } from './interruptions.ts';

/** Between two states: more than a state takes to be kept, less than a copy. */
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
    await delay(next() % LONGEST_WAIT_MS); // at random: that is the point
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
