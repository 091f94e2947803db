// SPDX-License-Identifier: Apache-2.0
// A disk whose state at any moment can be kept, as a loss of power would leave it, and mounted again.
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execaSync } from 'execa';
import { needsFile, needsRoot, needsTool } from './needs.ts';
import { succeeds } from './run-program.ts';

const SIZE = '192M';
/** Holds the disk's image. */
const OUTER_SIZE = '320M';
/** The journal is written once a second: more states than by default, of which some are in mid-copy. */
const OPTIONS = 'loop,commit=1';
/** Of e2fsck: the file system was mended. */
const MENDED = 1;

/**
 * An ext4 on an image in another ext4. To keep a state, the outer file system is frozen, so that no write of the inner
 * one is under way, and the image is copied: what the inner one has not written yet is lost, as without power.
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

  /** The number of the state, for recover(). */
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

  /** Mounts that state after the checks of a machine that starts, and returns where. */
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

/** A new one for each test of the describe() that it stands in. */
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
