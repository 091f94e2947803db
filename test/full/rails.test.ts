// SPDX-License-Identifier: Apache-2.0
// A cable of one of two networks is pulled while both carry a stream, and plugged in again.
import { expect } from 'chai';
import { useRails } from '../hop/rails-run.ts';
import { eventually } from '../support/eventually.ts';
import type { Rail } from '../support/rails.ts';

/** A missing connection is dialed again every 10 s. */
const AGAIN_MS = 60_000;

describe('a stream over two networks', () => {
  const current = useRails();

  for (const rail of [0, 1] as const satisfies readonly Rail[])
    it(`continues when the cable of network ${rail} is pulled, and uses it again afterwards`, async () => {
      const run = current();
      await run.begin();
      run.rails.setCable(rail, 'down');
      run.goOn();
      await eventually(() => expect(run.events()).to.include('"event":"resumed"'));
      run.rails.setCable(rail, 'up');
      await run.usesBoth(AGAIN_MS);
      run.goOn();
      await run.endsWell();
    });
});
