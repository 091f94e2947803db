// SPDX-License-Identifier: Apache-2.0
// A copy that is killed, or loses power or disk space, leaves old files intact;
// the next copy resumes it.
import { chmodSync, mkdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { eventually } from '../support/eventually.ts';
import { useFragileDisk } from '../support/fragile-disk.ts';
import { temporariesIn } from '../support/judge.ts';
import { useLab } from '../support/lab.ts';
import { useLoopDisk } from '../support/loop-disk.ts';
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

  it('by Ctrl-C gives whole files their names, and says what it keeps', async () => {
    const copy = new InterruptedCopy(lab, undefined, LASTING_BYTES);
    copy.prepare();
    mkdirSync(join(copy.source, 'z'));
    renameSync(join(copy.source, 'large'), join(copy.source, 'z/last'));
    chmodSync(join(copy.source, 'package-0'), 0o550);
    const running = copy.start('--limit 10M');
    await eventually(() => expect(running.temporaryBytes).to.be.above(9 * MIB));
    signalProcess(running.pid, 'SIGINT');
    const { status, stderr } = await running.result;
    expect(status).to.equal(130);
    expect(stderr).to.match(
      /^rdcp: ended by SIGINT\nrdcp: 1,200 files done, (8|16|24)\.0 MiB of last kept; run the same command to continue\n$/,
    );
    expect(copy.files).to.have.length(1200 + 1);
    expect(temporariesIn(copy.target)).to.have.length(1);
    expect(statSync(join(copy.target, 'package-0')).mode & 0o777).to.equal(0o550);
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
    const disk = useLoopDisk('12M');

    it('copies what fits, names the rest, and completes once there is space', async () => {
      const copy = new InterruptedCopy(lab, join(disk.directory, 'target'));
      copy.prepare();
      chmodSync(join(copy.source, 'package-1'), 0o550);
      const { status, stderr } = await lab.sh(copy.commandLine(''));
      expect(status, stderr).to.equal(23);
      const lines = stderr.trimEnd().split('\n');
      // Others fail as well if their turn comes before the space of the large one is free again; not all are shown.
      const shown = lines.filter((line) => line.endsWith(': no space left on device'));
      const [, more = '0'] = /… and ([\d,]+) more/.exec(stderr) ?? [];
      const failed = shown.length + Number(more.replaceAll(',', ''));
      if (failed === shown.length)
        expect(shown).to.include(`rdcp: h2: ${copy.target}/large: cannot write: no space left on device`);
      expect(lines.slice(shown.length).at(-1)).to.equal(
        `rdcp: ${failed.toLocaleString('en-US')} of 1,233 paths failed`,
      );
      copy.expectOldOrNew();
      if (failed === 1) expect(copy.files).to.have.length(1200 + 1);
      if (!stderr.includes('package-1:')) expect(statSync(join(copy.target, 'package-1')).mode & 0o777).to.equal(0o550);
      expect(temporariesIn(disk.directory)).to.deep.equal([]);
      rmSync(join(copy.source, 'large'));
      await copy.complete();
    });
  });

  describe('by a loss of power', () => {
    const disk = useFragileDisk();
    it(`at ${POWER_LOSSES} moments`, () => tryPowerLoss(lab, disk(), POWER_LOSSES));
  });
});
