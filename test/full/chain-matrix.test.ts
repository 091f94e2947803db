// SPDX-License-Identifier: Apache-2.0
// The kill matrix of chains: the hosts that are lost, the time, the output, and the encryption.
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import { CHAIN, kill, startChain } from '../faults/chain-run.ts';
import { useLab } from '../support/lab.ts';
import { needsSightOfPrograms } from '../support/needs.ts';
import { limitWords, NEVER } from '../support/run-limits.ts';

const LOST = [
  ['n1'],
  ['n2'],
  ['n3'],
  ['n4'],
  ['n1', 'n2'],
  ['n2', 'n3'],
  ['n3', 'n4'],
  ['n1', 'n3'],
  ['n2', 'n4'],
  ['n1', 'n2', 'n3'],
];
/** Milliseconds: while the stream flows; or around its end, after letEnd(), while files are written to the disk. */
const MOMENTS = { 'in mid-stream': [0, 300, 600], 'at its end': [1200, 1400, 1430] };

describe('the kill matrix of chains', () => {
  before(function () {
    needsSightOfPrograms(this);
  });
  const lab = useLab({ hosts: CHAIN.map((name) => ({ name })) });

  for (const output of ['command', 'file'] as const) {
    for (const encrypt of ['never', 'always']) {
      for (const lost of LOST) {
        for (const [when, moment] of Object.entries(MOMENTS).flatMap(([when, all]) =>
          all.map((ms) => [when, ms] as const),
        )) {
          const isLate = when === 'at its end';
          it(`${output}, --encrypt ${encrypt}, ${lost.join(' and ')} ${when}, after ${moment} ms`, async () => {
            const run = await startChain(lab, `${limitWords(NEVER)} --encrypt ${encrypt} --require any`, output);
            if (isLate) void run.letEnd();
            await delay(moment);
            const killed = lost.filter((name) => {
              try {
                kill(lab, name);
                return true;
              } catch {
                return false; // the host had finished
              }
            });
            const { status, stderr } = await run.letEnd();
            expect(status, stderr).to.equal(0);
            // A host that was killed at the end may have finished before.
            await run.expectCopies(killed).catch(async (error) => {
              if (!isLate) throw error;
              await run.expectCopies([]);
            });
          });
        }
      }
    }
  }
});
