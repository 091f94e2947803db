// SPDX-License-Identifier: Apache-2.0
// Describes a sample of the kill matrix for `npm test`; test/full has more.
import { useLab } from '../lab.ts';
import { needsSightOfPrograms } from '../needs.ts';
import { sample } from '../sample.ts';
import { allCells, titleOf } from './cells.ts';
import { runCell } from './run-cell.ts';
import type { Shape } from './shapes.ts';

const CELLS = 6;

export function describeSample(what: string, wants: (shape: Shape) => boolean): void {
  describe(`a process killed in a pipeline ${what}`, () => {
    before(function () {
      needsSightOfPrograms(this);
    });
    const lab = useLab();
    const cells = allCells().filter(({ shape }) => wants(shape));
    for (const cell of sample(cells, CELLS)) it(titleOf(cell), () => runCell(lab, cell));
  });
}
