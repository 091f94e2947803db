// SPDX-License-Identifier: Apache-2.0
// A disk whose state after a simulated loss of power can be saved at any moment, and mounted later.
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execaSync } from 'execa';
import { needsFile, needsRoot, needsTool } from './needs.ts';
import { succeeds } from './run-program.ts';

const SIZE = '192M';
/** Size of the file system that contains the disk's image. */
const OUTER_SIZE = '320M';
/** Commits the journal every second: more states than by default, some of them in the middle of a copy. */
const OPTIONS = 'loop,commit=1';
/** Exit status of e2fsck: errors were corrected. */
const MENDED = 1;

/**
 * An ext4 file system on an image in another ext4 file system. To save a state, the outer one is frozen, so that no
 * write of the inner one is in progress, and the image is copied without the unwritten data of the inner one.
 */
export class FragileDisk {
  readonly #base = mkdtempSync(join(tmpdir(), 'rdpipe-test-fragile-'));
  readonly #mounted: string[] = [];
  #kept = 0;

  get directory(): string {
    return this.#at('disk');
  }

  open(): void {
    this.#make('outer.image', OUTER_SIZE);
    this.#mount('outer.image', 'outer', 'loop');
    this.#make('outer/image', SIZE);
    this.#mount('outer/image', 'disk', OPTIONS);
  }

  /** Saves the current state; returns its number for recover(). */
  keep(): number {
    this.#kept += 1;
    execaSync('fsfreeze', ['-f', this.#at('outer')]);
    try {
      execaSync('cp', ['--sparse=always', this.#at('outer/image'), this.#at(`kept.${this.#kept}`)]);
    } finally {
      execaSync('fsfreeze', ['-u', this.#at('outer')]);
    }
    return this.#kept;
  }

  /** Checks a saved file system as a machine does at boot, mounts it and returns its path. */
  recover(state: number): string {
    const image = this.#at(`kept.${state}`);
    const { exitCode, stdout } = execaSync('e2fsck', ['-p', image], { reject: false });
    if ((exitCode ?? MENDED + 1) > MENDED) throw new Error(`the file system is damaged: ${stdout}`);
    this.#mount(`kept.${state}`, `recovered.${state}`, 'loop');
    return this.#at(`recovered.${state}`);
  }

  close(): void {
    for (const directory of this.#mounted.reverse())
      if (!succeeds('umount', [directory])) execaSync('umount', ['-l', directory]);
    rmSync(this.#base, { recursive: true });
  }

  #at(name: string): string {
    return join(this.#base, name);
  }

  #make(image: string, size: string): void {
    execaSync('truncate', ['-s', size, this.#at(image)]);
    execaSync('mkfs.ext4', ['-q', '-F', this.#at(image)]);
  }

  #mount(image: string, directory: string, options: string): void {
    mkdirSync(this.#at(directory));
    execaSync('mount', ['-o', options, this.#at(image), this.#at(directory)]);
    this.#mounted.push(this.#at(directory));
  }
}

/** Creates a disk for each test of the enclosing describe(). */
export function useFragileDisk(): () => FragileDisk {
  let disk: FragileDisk | undefined;
  beforeEach(function () {
    needsRoot(this);
    needsTool(this, 'mkfs.ext4', 'e2fsck', 'fsfreeze');
    needsFile(this, '/dev/loop-control');
    disk = new FragileDisk();
    disk.open();
  });
  afterEach(() => {
    disk?.close();
    disk = undefined;
  });
  return () => {
    if (disk === undefined) throw new Error('the disk is not there yet');
    return disk;
  };
}
