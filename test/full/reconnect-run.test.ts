// SPDX-License-Identifier: Apache-2.0
import { chainGoesOn } from '../faults/reconnect-run.ts';
import { useCabledLab } from '../support/cabled-lab.ts';
import { patience } from '../support/patience.ts';

const GIB = 1024 ** 3;
const LONGEST_MS = 600_000;

describe('5 GiB through a chain whose connections break 50 times', () => {
  const lab = useCabledLab({ longestMs: LONGEST_MS });

  for (const encrypt of ['always', 'never']) {
    it(`arrive unchanged, --encrypt ${encrypt}`, async function () {
      this.timeout(patience(LONGEST_MS));
      await chainGoesOn(lab, { between: (5 * GIB) / 50, times: 50, words: `--encrypt ${encrypt}` });
    });
  }
});
