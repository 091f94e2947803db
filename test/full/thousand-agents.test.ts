// SPDX-License-Identifier: Apache-2.0
// A launch on 1,000 hosts, whose agents are this process:
// its cost for the controller, which must grow linearly.
import { expect } from 'chai';
import type { CrowdRun } from '../support/agent-crowd.ts';
import { launchCrowd, useCrowd } from '../support/crowd-run.ts';

const COUNTERS = 12;

describe('a launch at size', () => {
  const crowd = useCrowd(300_000);

  for (const way of ['launcher', 'ssh'] as const) {
    it(`takes less than 300 MiB, and time proportional to its hosts, over ${way}`, async () => {
      const runs: CrowdRun[] = [];
      for (const width of [250, 500, 1000]) runs.push(await launchCrowd(crowd, width, COUNTERS, '', way));
      for (const run of runs) expectModest(run);
      // Four times as many hosts may take up to three times their linear share: far less than quadratic.
      const [few, , many] = runs;
      expect((many?.started.cpuS ?? 0) / (few?.started.cpuS ?? 1)).to.be.lessThan(4 * 3);
      expect((many?.finished.cpuS ?? 0) / (few?.finished.cpuS ?? 1)).to.be.lessThan(4 * 3);
    });
  }
});

function expectModest({ hosts, startS, started, finished, ranS }: CrowdRun): void {
  const share = (finished.cpuS - started.cpuS) / ranS;
  const start = `${startS.toFixed(1)} s from the first login to the last go, CPU ${started.cpuS.toFixed(1)} s`;
  const running = `${Math.round(share * 100)} % of a core while it runs, ${Math.round(finished.peakMib)} MiB`;
  console.log(`      ${hosts} hosts: ${start}; ${running}`);
  expect(finished.peakMib, `MiB for ${hosts} hosts`).to.be.lessThan(300);
}
