// SPDX-License-Identifier: Apache-2.0
// A disk that becomes read-only while it is written, as ext4 does after an error: the reason is named, old files stay,
// and the next copy is complete.
import { readFileSync, statfsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { eventually } from '../support/eventually.ts';
import { useLab } from '../support/lab.ts';
import { useLoopDisk } from '../support/loop-disk.ts';
import { failed } from '../support/shell.ts';
import { completeCopy, makeSource, sourceIn } from './failing-calls.ts';

const MIB = 1024 * 1024;
const OLD = 'what was there before\n';
const WHY = /read-only file system/;

describe('a disk that becomes read-only', () => {
  const lab = useLab();
  const disk = useLoopDisk('96M');

  async function becomesReadOnlyAfter(bytes: number): Promise<void> {
    const full = freeBytes();
    await eventually(() => expect(full - freeBytes()).to.be.at.least(bytes));
    disk.becomeReadOnly();
  }

  function freeBytes(): number {
    const { bfree, bsize } = statfsSync(disk.directory);
    return bfree * bsize;
  }

  it('ends a copy, and the next one is complete', async () => {
    makeSource(lab, ['a', 'b', 'below/c']);
    const target = join(disk.directory, 'target');
    const running = lab.start(`exec rdcp -a --limit 8M h1:${sourceIn(lab)}/ h2:${target}`);
    await becomesReadOnlyAfter(4 * MIB);
    const { status, stderr } = await running.result;
    expect(status, stderr).to.equal(125);
    expect(stderr).to.match(WHY);
    disk.mountAgain();
    await completeCopy(lab, 'h2', target);
  });

  it('ends a pipeline into a file, which stays as it was', async () => {
    const file = join(disk.directory, 'file');
    writeFileSync(file, OLD, { flush: true });
    const running = lab.start(`exec rdpipe --limit 8M h1:'cat /dev/urandom' h2:'> ${file}'`);
    await becomesReadOnlyAfter(4 * MIB);
    failed(await running.result, 125, WHY);
    disk.mountAgain();
    expect(readFileSync(file, 'latin1')).to.equal(OLD);
  });
});
