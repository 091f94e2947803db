// SPDX-License-Identifier: Apache-2.0
// File systems on which things go wrong: a small one that is soon full, and one with the faults that faulty-fs.c describes.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, rmdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { eventually } from './eventually.ts';
import { needsFile, needsRoot, needsTool } from './needs.ts';
import { ROOT } from './root.ts';

const FAULTS = ['read', 'write', 'fsync', 'close', 'rename', 'slow'] as const;

export type Fault = (typeof FAULTS)[number];

export class FaultyFs {
  readonly #base = mkdtempSync(join(tmpdir(), 'rdpipe-test-faulty-'));
  #server: ChildProcess | undefined;
  #ended: Promise<unknown> | undefined;

  /** Where that fault is met. */
  folder(fault: Fault): string {
    return join(this.#base, 'mounted', fault);
  }

  async mount(): Promise<void> {
    const program = join(this.#base, 'faulty-fs');
    const mountPoint = join(this.#base, 'mounted');
    const backing = join(this.#base, 'backing');
    for (const folder of [mountPoint, ...FAULTS.map((fault) => join(backing, fault))])
      mkdirSync(folder, { recursive: true });
    compile(program);
    this.#server = spawn(program, [backing, mountPoint], { stdio: 'inherit' });
    this.#ended = once(this.#server, 'exit');
    await eventually(() => expect(statSync(mountPoint).dev).not.to.equal(statSync(this.#base).dev));
  }

  async unmount(): Promise<void> {
    const ended = this.#ended;
    this.#server?.kill('SIGTERM');
    await ended;
    rmSync(this.#base, { recursive: true });
  }
}

export function useFaultyFs(): FaultyFs {
  const fs = new FaultyFs();
  before(async function () {
    needsTool(this, 'cc', 'pkg-config', 'fusermount3');
    needsFile(this, '/dev/fuse');
    await fs.mount();
  });
  after(() => fs.unmount());
  return fs;
}

/** Mounts an empty file system with these options of tmpfs(5) for each test, and returns where. */
export function useTmpfs(options: string): () => string {
  const base = mkdtempSync(join(tmpdir(), 'rdpipe-test-tmpfs-'));
  let mounted = 0;
  const folder = () => join(base, `${mounted}`);
  beforeEach(function () {
    needsRoot(this);
    mounted += 1;
    mkdirSync(folder());
    execFileSync('mount', ['-t', 'tmpfs', '-o', options, 'rdpipe-test', folder()]);
  });
  afterEach(() => void execFileSync('umount', ['-l', folder()]));
  after(() => rmSync(base, { recursive: true }));
  return folder;
}

/** Mounts an empty ext4 of 4 MiB, which files can be written to past the page cache, and returns where. */
export function useSmallDisk(): () => string {
  const base = mkdtempSync(join(tmpdir(), 'rdpipe-test-disk-'));
  const image = join(base, 'image');
  const folder = join(base, 'mounted');
  before(function () {
    needsRoot(this);
    needsTool(this, 'mkfs.ext4');
    needsFile(this, '/dev/loop-control');
    mkdirSync(folder);
    execFileSync('truncate', ['-s', '4M', image]);
    execFileSync('mkfs.ext4', ['-q', '-F', image]);
    execFileSync('mount', ['-o', 'loop', image, folder]);
    rmdirSync(join(folder, 'lost+found'));
  });
  after(() => {
    if (existsSync(image)) execFileSync('umount', ['-l', folder]);
    rmSync(base, { recursive: true });
  });
  return () => folder;
}

function compile(program: string): void {
  const library = execFileSync('pkg-config', ['--cflags', '--libs', 'fuse3'], { encoding: 'utf8' }).trim().split(/\s+/);
  const options = ['-std=c17', '-D_GNU_SOURCE', '-D_FILE_OFFSET_BITS=64', '-O1', '-Wall', '-Wextra', '-Werror'];
  execFileSync('cc', [...options, join(ROOT, 'test/support/faulty-fs.c'), '-o', program, ...library]);
}
