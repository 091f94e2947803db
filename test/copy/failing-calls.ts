// SPDX-License-Identifier: Apache-2.0
// Copies of which one system call fails as it does on a broken disk: the next copy is whole.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import type { Report } from '../../packages/rdpipe/src/model/report.ts';
import { compileProgram } from '../support/compile-program.ts';
import { expectCopy, temporariesIn } from '../support/judge.ts';
import type { Lab } from '../support/lab.ts';
import { needsRoot, needsTool } from '../support/needs.ts';
import { reportOf } from '../support/report.ts';
import { bytes } from '../support/tree-fixtures.ts';

const LARGE_BYTES = 24 * 1024 * 1024;

export interface FailingCall {
  readonly call: string;
  /** Which of these calls fails, counted from 1; 0: each. */
  readonly number: number;
}

export const FAILING_CALLS: readonly FailingCall[] = ['pwrite64', 'fsync', 'syncfs', 'renameat'].flatMap((call) =>
  [0, 1, 2].map((number) => ({ call, number })),
);

export function nameOfCall({ call, number }: FailingCall): string {
  return number === 0 ? `each ${call}` : `${call} number ${number}`;
}

/** Compiles the program that makes calls fail, and returns its path. */
export function useFailingCall(): string {
  const base = mkdtempSync(join(tmpdir(), 'rdpipe-test-failing-'));
  const program = join(base, 'failing-call');
  before(function () {
    needsRoot(this);
    needsTool(this, 'cc', 'rsync');
    compileProgram('test/support/failing-call.c', program);
  });
  after(() => rmSync(base, { recursive: true }));
  return program;
}

export async function tryFailingCall(lab: Lab, program: string, { call, number }: FailingCall): Promise<void> {
  // Only the sync of a batch of one file is fsync.
  makeSource(lab, call === 'fsync' ? [] : ['a', 'b', 'below/c']);
  const target = join(lab.directory, 'target');
  const { status, stderr } = await lab.sh(`${program} ${call} ${number} rdcp -a h1:${sourceIn(lab)}/ ${target}`);
  expect(status, stderr).to.equal(FAILED);
  expect(stderr).to.match(/input\/output error/);
  expect(temporariesIn(target)).to.deep.equal([]);
  expect(await completeCopy(lab, '', target)).to.equal(0);
}

const FAILED = 125;

export function sourceIn(lab: Lab): string {
  return join(lab.directory, 'source');
}

/** One large file, and small ones of these names. */
export function makeSource(lab: Lab, names: readonly string[]): void {
  mkdirSync(join(sourceIn(lab), 'below'), { recursive: true });
  for (const name of names) writeFileSync(join(sourceIn(lab), name), name);
  writeFileSync(join(sourceIn(lab), 'large'), bytes(LARGE_BYTES, 1));
}

/** Copies once more, expects a whole copy and nothing else, and returns the bytes that were not sent again. */
export async function completeCopy(lab: Lab, host: string, target: string, options = ''): Promise<number | undefined> {
  const result = await lab.sh(`rdcp -a --json ${options} h1:${sourceIn(lab)}/ ${host}:${target}`);
  expect(result.status, result.stderr).to.equal(0);
  expectCopy(sourceIn(lab), target);
  expect(temporariesIn(target)).to.deep.equal([]);
  const { copy } = reportOf(result) as Report & { readonly copy?: { readonly resumedBytes: number } };
  return copy?.resumedBytes;
}
