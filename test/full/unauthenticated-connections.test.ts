// SPDX-License-Identifier: Apache-2.0
// Every kind of unauthenticated peer, with each end:
// see test/attacks/unauthenticated-connections.test.ts.
import { UNAUTHENTICATED_CASES } from '../attacks/wire/unauthenticated-cases.ts';
import { needsSightOfPrograms } from '../support/needs.ts';
import { useBench } from '../support/programs.ts';

describe('any unauthenticated peer', () => {
  const bench = useBench();

  for (const { name, looksInside, check } of UNAUTHENTICATED_CASES)
    it(name, function () {
      if (looksInside) needsSightOfPrograms(this);
      return check(bench);
    });
});
