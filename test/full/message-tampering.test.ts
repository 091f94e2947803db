// SPDX-License-Identifier: Apache-2.0
// Every message of a hop, tampered with in transit in each manner of wire/tampering.ts.
import { CHANGES, checkTampering, nameOf, TAMPERED_MESSAGES } from '../attacks/wire/tampering.ts';
import { inParallel } from '../support/in-parallel.ts';
import { patience } from '../support/patience.ts';
import { useBench } from '../support/programs.ts';

const AT_ONCE = 4;

describe('any message that is tampered with', function () {
  this.timeout(patience(600_000));
  const bench = useBench();

  for (const message of TAMPERED_MESSAGES)
    it(`${nameOf(message)}: ${CHANGES.length} changes`, () =>
      inParallel(
        CHANGES,
        AT_ONCE,
        ({ name }) => name,
        (change) => checkTampering(bench, { ...message, change }),
      ));
});
