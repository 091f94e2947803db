// SPDX-License-Identifier: Apache-2.0
// All cells of the kill matrix of chains.
import { chainCells, runCell, titleOf } from '../faults/chain-cells.ts';
import { CHAIN } from '../faults/chain-run.ts';
import { useLab } from '../support/lab.ts';
import { needsSightOfPrograms } from '../support/needs.ts';

describe('the kill matrix of chains', () => {
  before(function () {
    needsSightOfPrograms(this);
  });
  const lab = useLab({ hosts: CHAIN.map((name) => ({ name })) });

  for (const cell of chainCells()) it(titleOf(cell), () => runCell(lab, cell));
});
