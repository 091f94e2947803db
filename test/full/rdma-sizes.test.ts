// SPDX-License-Identifier: Apache-2.0
// Sizes around every boundary, over RDMA.
import { passBytes } from '../lab/pass-bytes.ts';
import { useVirtualHosts } from '../lab/use-virtual-hosts.ts';

const KIB = 1024;
const MIB = 1024 * KIB;
const EDGES = [1, 4 * KIB, 16 * KIB, 64 * KIB, MIB, 8 * MIB];

describe('bytes over RDMA, of every size that matters', () => {
  const lab = useVirtualHosts();
  for (const edge of EDGES) {
    for (const size of [edge - 1, edge, edge + 1]) it(`pass, ${size} of them`, () => passBytes(lab, size));
  }
});
