// SPDX-License-Identifier: Apache-2.0
// Control connections fail while data flows: a run survives a short outage;
// a long one ends the run on all hosts.
import { setTimeout as delay } from 'node:timers/promises';
import { useCabledLab } from '../support/cabled-lab.ts';
import { USER } from '../support/cables.ts';
import { leaseSoon, NEVER } from '../support/run-limits.ts';
import { CabledTransfer } from './cabled-transfer.ts';
import { type Fault, passingFaults, suddenFaults } from './network-faults.ts';

export interface ControlCell {
  readonly fault: Fault;
  readonly lasts: 'for 1 s' | 'forever';
  readonly ssh: 'openssh' | 'ssh2';
}

const WAY = [USER, 'h2', 'control'] as const;
/**
 * Far less than three eighths of the lease, an outage that the lease tolerates: docs/protocol/agent.md, section 2.3.
 */
const OUTAGE_MS = 1000;

export const CONTROL_CELLS: readonly ControlCell[] = (['openssh', 'ssh2'] as const).flatMap((ssh) => [
  ...passingFaults(...WAY)
    .filter(({ kind }) => kind === 'silence')
    .map((fault) => ({ fault, lasts: 'for 1 s', ssh }) as const),
  ...[...passingFaults(...WAY), ...suddenFaults(...WAY)].map((fault) => ({ fault, lasts: 'forever', ssh }) as const),
]);

export function describeControlCells(chosen: readonly ControlCell[]): void {
  describe('a run', () => {
    const lab = useCabledLab();
    afterEach(() => lab.cables.renew());
    for (const { fault, lasts, ssh } of chosen) {
      const outcome = lasts === 'for 1 s' ? 'continues' : 'fails everywhere';
      it(`with ${ssh} ${outcome} when ${fault.name} ${lasts}`, async () => {
        const limits = lasts === 'forever' ? leaseSoon() : NEVER;
        const transfer = new CabledTransfer(lab, { limits, words: `--ssh ${ssh} ${lab.overData('h1', 'h2')}` });
        await transfer.moves();
        fault.begin(lab.cables);
        if (lasts === 'forever') return await transfer.endsBadly(/lost .*h[12]|h[12] .*(silent|lost|closed|reset)/);
        await delay(OUTAGE_MS);
        lab.cables.mend();
        await transfer.moves();
        await transfer.endsWell();
      });
    }
  });
}
