// SPDX-License-Identifier: Apache-2.0
// One small round of the complete benchmark: every case runs and has its figures.
import { whatTheLabLacks } from '../bench/lab/needs.ts';
import { LAB_TABLES } from '../bench/lab/tables.ts';
import { whatFanOutToolsLack, whatLoopbackLacks } from '../bench/loopback/needs.ts';
import { whatSwitchedHostsLack } from '../bench/loopback/switched-hosts.ts';
import { LOOPBACK_TABLES } from '../bench/loopback/tables.ts';
import { expectEveryFigure } from '../support/bench-run.ts';
import { needs } from '../support/needs.ts';
import { COMMAND_MS, patience } from '../support/patience.ts';

const LONGEST_MS = patience(900_000);

describe('npm run bench', () => {
  it('measures on loopback', async function () {
    needs(this, whatLoopbackLacks());
    await expectEveryFigure(['pipe', 'compressed'], '--rounds 1 --mib 8', COMMAND_MS);
  });

  it('measures each case on loopback', async function () {
    needs(this, whatLoopbackLacks() ?? whatFanOutToolsLack() ?? whatSwitchedHostsLack());
    this.timeout(LONGEST_MS);
    await expectEveryFigure(LOOPBACK_TABLES, '--rounds 1 --mib 16', LONGEST_MS);
  });

  it('measures each case in the lab', async function () {
    needs(this, whatTheLabLacks());
    this.timeout(LONGEST_MS);
    await expectEveryFigure(LAB_TABLES, '--rounds 1 --mib 8', LONGEST_MS);
  });
});
