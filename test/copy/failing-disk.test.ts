// SPDX-License-Identifier: Apache-2.0
// Copies onto a disk that fails: files stay old or whole, and the next run trusts only the disk.
import { mkdirSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { execaSync } from 'execa';
import { eventually } from '../support/eventually.ts';
import { expectCopy, temporariesIn } from '../support/judge.ts';
import { useLab } from '../support/lab.ts';
import { needsFile, needsTool } from '../support/needs.ts';
import { signalProcess } from '../support/processes.ts';
import { sample } from '../support/sample.ts';
import {
  completeCopy,
  FAILING_CALLS,
  makeSource,
  nameOfCall,
  sourceIn,
  tryFailingCall,
  useFailingCall,
} from './failing-calls.ts';

const MIB = 1024 * 1024;
const CELLS = 2;
/** Less than the image needs for the large file, and enough for its metadata. */
const SMALL_DISK = '16m';
const LARGE_DISK = '96m';

describe('a copy onto a disk that fails', () => {
  const lab = useLab();
  const program = useFailingCall();

  describe('in', () => {
    for (const cell of sample(FAILING_CALLS, CELLS))
      it(`${nameOfCall(cell)}: the copy fails, and the next one is complete`, () => tryFailingCall(lab, program, cell));

    for (const [call, names] of [
      ['syncfs', ['a', 'b', 'below/c']],
      ['fsync', []],
    ] as const)
      it(`each ${call} does not matter with --no-sync`, async () => {
        makeSource(lab, names);
        const target = join(lab.directory, 'target');
        const { status, stderr } = await lab.sh(
          `${program} ${call} 0 rdcp -a -v --no-sync h1:${sourceIn(lab)}/ ${target}`,
        );
        expect(status, stderr).to.equal(0);
        expect(stderr).to.match(/^Copied \d files?, .*; not synced to disk$/m);
        expectCopy(sourceIn(lab), target);
      });
  });

  describe('whose cache has more than the disk', () => {
    const base = mkdtempSync(join(tmpdir(), 'rdpipe-test-failing-'));
    const outer = join(base, 'outer');
    const image = join(outer, 'image');
    const disk = join(base, 'disk');
    beforeEach(function () {
      needsTool(this, 'mkfs.ext4');
      needsFile(this, '/dev/loop-control');
      for (const directory of [outer, disk]) mkdirSync(directory, { recursive: true });
      execaSync('mount', ['-t', 'tmpfs', '-o', `size=${SMALL_DISK}`, 'rdpipe-test', outer]);
      execaSync('truncate', ['-s', LARGE_DISK, image]);
      execaSync('mkfs.ext4', ['-q', '-F', '-O', '^has_journal', '-E', 'lazy_itable_init=1', image]);
      mount();
    });
    afterEach(() => {
      execaSync('umount', ['-l', disk]);
      execaSync('umount', ['-l', outer]);
    });

    after(() => rmSync(base, { recursive: true }));

    function mount(): void {
      execaSync('mount', ['-o', 'loop,errors=continue', image, disk]);
    }

    /** Another mount reads the disk, not the cache. */
    function expectOnDisk(): void {
      execaSync('umount', [disk]);
      mount();
      expectCopy(sourceIn(lab), join(disk, 'target'));
    }

    function enlarge(): void {
      execaSync('mount', ['-o', `remount,size=${LARGE_DISK}`, outer]);
    }

    it('keeps no partial file when the sync fails', async () => {
      makeSource(lab, ['a', 'b', 'below/c']);
      const { status, stderr } = await lab.sh(`rdcp -a h1:${sourceIn(lab)}/ h2:${disk}/target`);
      expect(status, stderr).to.equal(125);
      expect(temporariesIn(disk)).to.deep.equal([]);
      enlarge();
      expect(await completeCopy(lab, 'h2', join(disk, 'target'))).to.equal(0);
      expectOnDisk();
    });

    it('takes up only what the disk has when the copy was killed', async () => {
      makeSource(lab, ['a', 'b', 'below/c']);
      const running = lab.start(`exec rdcp -a --limit 20M h1:${sourceIn(lab)}/ h2:${disk}/target`);
      await eventually(() => {
        const sizes = temporariesIn(disk).map((path) => statSync(path, { throwIfNoEntry: false })?.size ?? 0);
        expect(Math.max(0, ...sizes)).to.be.above(20 * MIB);
      });
      // A writer that is not killed would sync the disk, and then remove the file.
      for (const { pid, program: name } of lab.processes()) if (name === 'rdtree') signalProcess(pid, 'SIGKILL');
      await running.result;
      await lab.expectNothingLeft();
      expect(temporariesIn(disk)).not.to.deep.equal([]);
      execaSync('sync', ['-f', disk], { reject: false });
      enlarge();
      expect(await completeCopy(lab, 'h2', join(disk, 'target'), '--verify')).to.be.below(20 * MIB);
      expectOnDisk();
    });
  });
});
