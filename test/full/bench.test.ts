// SPDX-License-Identifier: Apache-2.0
// One small round of the benchmark: every case runs, and every row of its tables has its figure.
import { expect } from 'chai';
import { whatTheBenchLacks } from '../bench/needs.ts';
import { needs } from '../support/needs.ts';
import { ROOT } from '../support/root.ts';
import { startShell } from '../support/shell.ts';

const LONGEST_MS = 600_000;
const CASES = 19;

describe('npm run bench:rdma', () => {
  before(function () {
    needs(this, whatTheBenchLacks());
  });

  it('prints a figure for each case', async function () {
    this.timeout(LONGEST_MS);
    const options = { cwd: ROOT, env: process.env, longestMs: LONGEST_MS };
    const result = await startShell('npm run --silent bench:rdma -- --rounds 1 --mib 8', options).result;
    expect(result.status, result.stderr).to.equal(0);
    const rows = result.text.split('\n').filter((line) => /^\| \S/.test(line) && !line.startsWith('| ---'));
    expect(rows).to.have.length(CASES);
    for (const row of rows) expect(row).to.match(/^\| [^|]+ \| \d+(\.\d+)? \(/);
  });
});
