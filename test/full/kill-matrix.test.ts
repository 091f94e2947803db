// SPDX-License-Identifier: Apache-2.0
import { allCells, titleOf } from '../support/kill-matrix/cells.ts';
import { runCell } from '../support/kill-matrix/run-cell.ts';
import { useLab } from '../support/lab.ts';
import { everyFew } from '../support/sample.ts';

describe('the kill matrix', () => {
  const lab = useLab();
  for (const cell of everyFew(allCells())) it(titleOf(cell), () => runCell(lab, cell));
});
