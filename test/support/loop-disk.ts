// SPDX-License-Identifier: Apache-2.0
// An ext4 file system on an image, which supports direct I/O and can become read-only as after an error.
import { existsSync, mkdirSync, mkdtempSync, rmdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { execaSync } from 'execa';
import { needsFile, needsRoot, needsTool } from './needs.ts';

export class LoopDisk {
  readonly #base = mkdtempSync(join(tmpdir(), 'rdpipe-test-disk-'));
  readonly #image = join(this.#base, 'image');
  readonly directory = join(this.#base, 'mounted');

  /** `features`: words of mkfs.ext4. */
  make(size: string, features: readonly string[]): void {
    mkdirSync(this.directory);
    execaSync('truncate', ['-s', size, this.#image]);
    execaSync('mkfs.ext4', ['-q', '-F', ...features, this.#image]);
    this.#mount();
    rmdirSync(join(this.directory, 'lost+found'));
  }

  /** Makes the kernel find an error; nothing can be written until mountAgain(). */
  becomeReadOnly(): void {
    const device = execaSync('findmnt', ['-no', 'SOURCE', this.directory]).stdout;
    writeFileSync(join('/sys/fs/ext4', basename(device), 'trigger_fs_error'), 'by a test');
  }

  mountAgain(): void {
    execaSync('umount', [this.directory]);
    this.#mount();
  }

  remove(): void {
    if (existsSync(this.#image)) execaSync('umount', ['-l', this.directory]);
    rmSync(this.#base, { recursive: true });
  }

  #mount(): void {
    execaSync('mount', ['-o', 'loop,errors=remount-ro', this.#image, this.directory]);
  }
}

/** Makes an empty disk before the tests of the enclosing describe(). */
export function useLoopDisk(size: string, features: readonly string[] = []): LoopDisk {
  const disk = new LoopDisk();
  before(function () {
    needsRoot(this);
    needsTool(this, 'mkfs.ext4');
    needsFile(this, '/dev/loop-control');
    disk.make(size, features);
  });
  after(() => disk.remove());
  return disk;
}
