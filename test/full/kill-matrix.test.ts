// SPDX-License-Identifier: Apache-2.0
import { allCells, titleOf } from '../support/kill-matrix/cells.ts';
import { CELL_WITHIN_MS, runCell } from '../support/kill-matrix/run-cell.ts';
import { useLab } from '../support/lab.ts';

/** Odd, for signals take turns. RDPIPE_KILL_STEP=1 runs every cell. */
const STEP = Number(process.env.RDPIPE_KILL_STEP ?? 7);

describe('the kill matrix', function () {
  this.timeout(CELL_WITHIN_MS);
  const lab = useLab();
  const cells = allCells().filter((_cell, place) => place % STEP === 0);
  for (const cell of cells) it(titleOf(cell), () => runCell(lab, cell));
});
