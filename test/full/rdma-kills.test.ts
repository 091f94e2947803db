// SPDX-License-Identifier: Apache-2.0
// A process of the agent, or one that it started, dies on a host of an RDMA hop:
// cells of the kill matrix.
import { expect } from 'chai';
import { rdmaCells, runRdmaCell } from '../lab/kill-cells.ts';
import { useVirtualHosts } from '../lab/use-virtual-hosts.ts';
import { titleOf } from '../support/kill-matrix/cells.ts';
import { everyFew } from '../support/sample.ts';

describe('the kill matrix over RDMA', () => {
  const lab = useVirtualHosts();
  let before: string[] = [];

  it('begins with devices that', async () => {
    before = await resources();
  });

  for (const cell of everyFew(rdmaCells())) it(titleOf(cell), () => runRdmaCell(lab, cell));

  it('are unchanged when it ends', async () => expect(await resources()).to.deep.equal(before));

  function resources(): Promise<string[]> {
    return Promise.all((['h1', 'h2', 'h3'] as const).map((host) => lab.on(host, 'rdma resource')));
  }
});
