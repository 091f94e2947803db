// SPDX-License-Identifier: Apache-2.0
// A copy that is killed, or loses power or disk space, leaves old files intact;
// the next copy resumes it.
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { eventually } from '../support/eventually.ts';
import { useSmallDisk } from '../support/faulty-fs.ts';
import { useFragileDisk } from '../support/fragile-disk.ts';
import { temporariesIn } from '../support/judge.ts';
import { useLab } from '../support/lab.ts';
import { needsRoot, needsTool } from '../support/needs.ts';
import { signalProcess } from '../support/processes.ts';
import { sample } from '../support/sample.ts';
import { InterruptedCopy, KILL_CELLS, nameOf, tryKill } from './interruptions.ts';
import { tryPowerLoss } from './power-loss.ts';

const CELLS = 6;
const POWER_LOSSES = 3;
const MIB = 1024 * 1024;
/** At 10 MB/s the copy lasts long after its beginning was noticed. */
const LASTING_BYTES = 96 * MIB;

describe('a copy that is interrupted', () => {
  const lab = useLab();
  before(function () {
    needsRoot(this);
    needsTool(this, 'rsync');
  });

  describe('by kill -9', () => {
    for (const cell of sample(KILL_CELLS, CELLS)) it(nameOf(cell), () => tryKill(lab, cell));
  });

  it('resumes in the middle of a file', async () => {
    const copy = new InterruptedCopy(lab, undefined, LASTING_BYTES);
    copy.prepare();
    const running = copy.start('--limit 10M');
    await eventually(() => expect(running.temporaryBytes).to.be.above(9 * MIB));
    signalProcess(running.pid, 'SIGKILL');
    await running.result;
    await lab.expectNothingLeft();
    copy.expectOldOrNew();
    expect(await copy.complete()).to.be.above(8 * MIB - 1);
  });

  it('is not damaged by another copy to the same target', async () => {
    const copy = new InterruptedCopy(lab);
    copy.prepare();
    const all = await Promise.all([1, 2].map(() => lab.sh(copy.commandLine(''))));
    for (const { status, stderr } of all) expect(status, stderr).to.equal(0);
    await copy.complete();
  });

  describe('by a full disk', () => {
    const disk = useSmallDisk('12M');

    it('reports it, leaves no temporary files, and completes once there is space', async () => {
      const copy = new InterruptedCopy(lab, join(disk(), 'target'));
      copy.prepare();
      const { status, stderr } = await lab.sh(copy.commandLine(''));
      expect(status, stderr).to.be.oneOf([23, 125]);
      expect(stderr).to.match(/no space left|ENOSPC/i);
      copy.expectOldOrNew();
      expect(temporariesIn(disk())).to.deep.equal([]);
      rmSync(join(copy.source, 'large'));
      await copy.complete();
    });
  });

  describe('by a loss of power', () => {
    const disk = useFragileDisk();
    it(`at ${POWER_LOSSES} moments`, () => tryPowerLoss(lab, disk(), POWER_LOSSES));
  });
});
