// SPDX-License-Identifier: Apache-2.0
// Cross-builds programs for arm64, and has the kernel run them with qemu-user.
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { execaSync } from 'execa';
import { needs, needsFile, needsTool } from './needs.ts';
import { patience } from './patience.ts';
import { ROOT } from './root.ts';

/** Directory of the release programs and the C suites, which need it as $RD_BIN. */
export const ARM64_BUILD = join(ROOT, 'build/aarch64/release');

const BUILD_MAX_MS = 600_000;
const KERNEL_LIST = '/proc/sys/fs/binfmt_misc';
const EMULATOR = '/usr/bin/qemu-aarch64-static';
/** The first bytes of an arm64 program, and the mask of significant bits, in the kernel's notation. */
const MAGIC = '7f454c460201010000000000000000000200b700';
const MASK = 'ffffffffffffff00fffffffffffffffffeffffff';
const OWN_ENTRY = 'rdpipe-test-aarch64';

/**
 * Builds these targets for arm64 before the tests of the enclosing describe(), and registers the emulator with the
 * kernel if it is not registered yet; unregisters it after the tests.
 */
export function useArm64Programs(...targets: readonly string[]): void {
  let isOwn = false;
  before(function () {
    this.timeout(patience(BUILD_MAX_MS));
    needs(this, process.arch === 'x64' ? undefined : 'this machine is not x86-64');
    needsTool(this, 'aarch64-linux-gnu-gcc', EMULATOR.replace(/.*\//, ''));
    execaSync('make', ['-s', '-j2', 'WERROR=1', 'CPU=aarch64', ...targets], { cwd: ROOT });
    execaSync('make', ['-s', '-j2', 'WERROR=1', 'CPU=aarch64', 'STATIC=1'], { cwd: ROOT });
    if (isKnown()) return;
    needs(this, process.getuid?.() === 0 ? undefined : `only root may tell the kernel of ${EMULATOR}`);
    isOwn = register();
    needsFile(this, join(KERNEL_LIST, OWN_ENTRY));
  });
  after(() => {
    if (isOwn) writeFileSync(join(KERNEL_LIST, OWN_ENTRY), '-1');
  });
}

/** With the flag F the kernel keeps the emulator open, so that it also works in a chroot. */
function isKnown(): boolean {
  const names = existsSync(KERNEL_LIST) ? readdirSync(KERNEL_LIST) : [];
  const entries = names
    .filter((name) => name !== 'register')
    .map((name) => readFileSync(join(KERNEL_LIST, name), 'utf8'));
  return entries.some((entry) => /^enabled\ninterpreter .*qemu-aarch64.*\nflags: .*F/.test(entry));
}

function register(): boolean {
  const list = join(KERNEL_LIST, 'register');
  if (!existsSync(list)) execaSync('mount', ['-t', 'binfmt_misc', 'binfmt_misc', KERNEL_LIST], { reject: false });
  if (!existsSync(list)) return false;
  writeFileSync(list, `:${OWN_ENTRY}:M::${escaped(MAGIC)}:${escaped(MASK)}:${EMULATOR}:F`);
  return true;
}

function escaped(digits: string): string {
  return digits.replaceAll(/../g, '\\x$&');
}
