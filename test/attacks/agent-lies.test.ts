// SPDX-License-Identifier: Apache-2.0
// A hostile host that sends false messages to the controller. All of them:
// test/full/agent-lies.test.ts.
import { expect } from 'chai';
import { END_LIMIT_MS } from '../../packages/rdpipe/src/agent/agent.ts';
import { sample } from '../support/sample.ts';
import { expectLieFound } from './agent/expect-lie-found.ts';
import { gaveUp, useHostileLab } from './agent/hostile-lab.ts';
import { LIES } from './agent/lies.ts';

describe('a host that', () => {
  const hostile = useHostileLab();
  for (const lie of sample(LIES, 10)) it(lie.name, () => expectLieFound(hostile, lie));

  for (const [when, stage, status] of [
    ['of a run that is done', 'cat', 125],
    ['of a run that failed', 'exit 3', 3],
  ] as const) {
    it(`only sends keepalives delays the end ${when} by ${END_LIMIT_MS / 1000} s`, async () => {
      hostile.behave(async (agent) => {
        const living = agent.liveOn();
        await agent.stand((event) => (event.event === 'ended' ? undefined : JSON.stringify(event)));
        await living;
      });
      const begun = performance.now();
      const result = await hostile.rdpipe(`h1:'seq 1000' h2:'${stage}' h3:'wc -l'`);
      if (status === 125) gaveUp(result, /did not end on .*h2/);
      expect(result).to.include({ status });
      // The agent would send keepalives for ever.
      expect(performance.now() - begun).to.be.at.least(END_LIMIT_MS);
    });
  }
});
