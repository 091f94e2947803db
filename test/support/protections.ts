// SPDX-License-Identifier: Apache-2.0
// Checks the hardening of a built program in its file, for each CPU.
import { expect } from 'chai';
import { execaSync } from 'execa';

/** Notes for checked jump targets and protected return addresses, on x86 and on arm64. */
const BRANCHES = /x86 feature: IBT, SHSTK|AArch64 feature: BTI, PAC/;

export function expectLoadedAnywhere(file: string): void {
  expect(readelf('--file-header', file)).to.match(/Type: +DYN /);
  const dynamic = readelf('--dynamic', file);
  expect(dynamic)
    .to.match(/\(FLAGS\) +.*BIND_NOW/)
    .and.match(/\(FLAGS_1\) +Flags: .*NOW.*PIE/);
  // The static libraries are position-independent too: no relocation changes code at the start.
  expect(dynamic).not.to.match(/TEXTREL|RPATH|RUNPATH/);
  const segments = readelf('--program-headers', file);
  expect(segments)
    .to.match(/GNU_RELRO +.* R +0x/)
    .and.match(/GNU_STACK +.* RW +0x/)
    .and.not.match(/ RWE +0x/);
}

/** Expects stack protection and checked buffer functions (FORTIFY). */
export function expectGuards(file: string): void {
  expect(readelf('--symbols', file))
    .to.match(/ __stack_chk_fail\b/)
    .and.match(/ __(read|memcpy|snprintf|vsnprintf|fdelt|poll)_chk\b/);
}

/** Expects BRANCHES in all objects of an archive. */
export function expectBranchesChecked(archive: string): void {
  const objects = readelf('--notes', archive)
    .split(/^File: /m)
    .slice(1);
  expect(objects).to.have.length.above(50);
  expect(objects.filter((notes) => !BRANCHES.test(notes))).to.deep.equal([]);
}

export function checksBranches(file: string): boolean {
  return BRANCHES.test(readelf('--notes', file));
}

function readelf(what: string, file: string): string {
  return execaSync('readelf', [what, '--wide', file], { maxBuffer: 1 << 28 }).stdout;
}
