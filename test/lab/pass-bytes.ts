// SPDX-License-Identifier: Apache-2.0
// Passes files through a pipeline of virtual hosts and compares them.
import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import { succeededOver } from './report.ts';
import type { VirtualLab } from './use-virtual-hosts.ts';

/** Passes `size` random bytes from this machine through h1 and h2 and back, with RDMA between the hosts. */
export async function passBytes(lab: VirtualLab, size: number): Promise<void> {
  const bytes = randomBytes(size);
  await lab.write('in', bytes);
  succeededOver(await lab.sh('rdpipe --json h1:cat h2:cat < in > out'), '', ['tcp', 'rdma', 'tcp']);
  expect((await lab.read('out')).equals(bytes)).to.equal(true);
}
