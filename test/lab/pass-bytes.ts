// SPDX-License-Identifier: Apache-2.0
// Passes a file of each size through a pipeline of virtual hosts and compares it.
import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import { succeededOver } from './report.ts';
import type { VirtualLab } from './use-virtual-hosts.ts';

/** So many random bytes go from here through h1 and h2 and back, over RDMA between the two. */
export async function passBytes(lab: VirtualLab, size: number): Promise<void> {
  const bytes = randomBytes(size);
  await lab.write('in', bytes);
  succeededOver(await lab.sh('rdpipe --connect-timeout 60 --json h1:cat h2:cat < in > out'), '', [
    'tcp',
    'rdma',
    'tcp',
  ]);
  expect((await lab.read('out')).equals(bytes)).to.equal(true);
}
