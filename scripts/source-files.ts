// SPDX-License-Identifier: Apache-2.0
/** The source files of the checkout: neither ignored by git nor generated, nor test data. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { execaSync } from 'execa';

export const ROOT = join(import.meta.dirname, '..');

const NOT_WRITTEN = /(^|\/)(pnpm-lock\.yaml|LICENSE)$|\.svg$|\/fuzz\/corpus\//;

/** Paths below the root, sorted; includes new files that are not yet added to git. */
export function sourceFiles(): string[] {
  const git = ['ls-files', '-z', '--cached', '--others', '--exclude-standard'];
  const files = execaSync('git', git, { cwd: ROOT }).stdout.split('\0');
  return files.filter((file) => file !== '' && !NOT_WRITTEN.test(file) && existsSync(join(ROOT, file))).sort();
}
