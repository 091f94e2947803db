// SPDX-License-Identifier: Apache-2.0
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { expectAsSsh, LINES, placeStandIns } from '../hop/ssh-lines.ts';

describe('the front of rdssh', () => {
  it('gives every command line of the table the same configuration as ssh', () => {
    expect(LINES.length).to.be.at.least(200);
    const directory = mkdtempSync(join(tmpdir(), 'rdpipe-test-'));
    placeStandIns(directory);
    expectAsSsh(directory, LINES);
    rmSync(directory, { recursive: true });
  });
});
