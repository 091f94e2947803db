// SPDX-License-Identifier: Apache-2.0
// Links the substitute for kubectl, docker and lxc into a directory under their names.
import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './root.ts';

/** Returns the directory, to be put into PATH. */
export function placeStandIns(directory: string): string {
  const bin = join(directory, 'stand-ins');
  mkdirSync(bin);
  for (const name of ['kubectl', 'docker', 'lxc'])
    symlinkSync(join(ROOT, 'test/support/exec-stand-in.mjs'), join(bin, name));
  return bin;
}
