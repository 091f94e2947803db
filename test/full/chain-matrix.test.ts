// SPDX-License-Identifier: Apache-2.0
// The kill matrix of chains: which hosts are lost, when, what takes the stream, and how it is protected.
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import { CHAIN, kill, startChain } from '../faults/chain-run.ts';
import { useLab } from '../support/lab.ts';
import { needsSightOfPrograms } from '../support/needs.ts';

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
/** Of the time that the stream takes: the last ones are at its end, while files are written to the disk. */
const MOMENTS = [0, 0.3, 0.6, 0.9, 1, 1.02];
const BYTES = 6_000_000;
const STREAM_MS = 1000;

describe('the kill matrix of chains', () => {
  before(function () {
    needsSightOfPrograms(this);
  });
  const lab = useLab({ hosts: CHAIN.map((name) => ({ name })) });

  for (const output of ['command', 'file'] as const) {
    for (const encrypt of ['never', 'always']) {
      for (const lost of LOST) {
        for (const moment of MOMENTS) {
          it(`${output}, --encrypt ${encrypt}, ${lost.join(' and ')} at ${moment}`, async () => {
            const run = await startChain(lab, `--encrypt ${encrypt} --require any`, BYTES, output);
            await delay(STREAM_MS * moment);
            const killed = lost.filter((name) => {
              try {
                kill(lab, name);
                return true;
              } catch {
                return false; // it was done
              }
            });
            const { status, stderr } = await run.result;
            expect(status, stderr).to.equal(0);
            // One that was killed at the end may have been done.
            await run.expectCopies(killed).catch(async (error) => {
              if (moment < 0.9) throw error;
              await run.expectCopies([]);
            });
          });
        }
      }
    }
  }
});
