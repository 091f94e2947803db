// SPDX-License-Identifier: Apache-2.0
// File systems that fail: a small one that fills up, and one with the faults of faulty-fs.c.
import { mkdirSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { execaSync } from 'execa';
import { compileProgram, libraryWords } from './compile-program.ts';
import { eventually } from './eventually.ts';
import { needsFile, needsRoot, needsTool } from './needs.ts';
import { type Started, startProgram } from './start-program.ts';

const FAULTS = ['read', 'write', 'fsync', 'close', 'rename', 'slow'] as const;

export type Fault = (typeof FAULTS)[number];

export class FaultyFs {
  readonly #base = mkdtempSync(join(tmpdir(), 'rdpipe-test-faulty-'));
  #server: Started | undefined;

  /** A directory whose files have this fault. */
  directory(fault: Fault): string {
    return join(this.#base, 'mounted', fault);
  }

  async mount(): Promise<void> {
    const program = join(this.#base, 'faulty-fs');
    const mountPoint = join(this.#base, 'mounted');
    const backing = join(this.#base, 'backing');
    for (const directory of [mountPoint, ...FAULTS.map((fault) => join(backing, fault))])
      mkdirSync(directory, { recursive: true });
    compileProgram('test/support/faulty-fs.c', program, libraryWords('fuse3'));
    this.#server = startProgram([program, backing, mountPoint], { stdio: 'inherit' });
    await eventually(() => expect(statSync(mountPoint).dev).not.to.equal(statSync(this.#base).dev));
  }

  async unmount(): Promise<void> {
    this.#server?.child.kill('SIGTERM');
    await this.#server?.ended;
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

/** Mounts an empty file system with these options of tmpfs(5) for each test; returns its path. */
export function useTmpfs(options: string): () => string {
  const base = mkdtempSync(join(tmpdir(), 'rdpipe-test-tmpfs-'));
  let mounted = 0;
  const directory = () => join(base, `${mounted}`);
  beforeEach(function () {
    needsRoot(this);
    mounted += 1;
    mkdirSync(directory());
    execaSync('mount', ['-t', 'tmpfs', '-o', options, 'rdpipe-test', directory()]);
  });
  afterEach(() => void execaSync('umount', ['-l', directory()]));
  after(() => rmSync(base, { recursive: true }));
  return directory;
}
