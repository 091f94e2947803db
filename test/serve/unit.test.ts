// SPDX-License-Identifier: Apache-2.0
// The systemd unit: valid, and with few rights.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { needsTool } from '../support/needs.ts';
import { BIN } from '../support/programs.ts';
import { ROOT } from '../support/root.ts';
import { runProgram } from '../support/run-program.ts';

const UNIT = 'rdrecv-serve.service';
const EXPOSURE_MAX = 2.5;

describe('the unit of a serving receiver', () => {
  const directory = mkdtempSync(join(tmpdir(), 'rdpipe-unit-'));
  const unit = join(directory, UNIT);
  before(function () {
    needsTool(this, 'systemd-analyze');
    const text = readFileSync(join(ROOT, 'contrib', UNIT), 'utf8');
    writeFileSync(unit, text.replace('/usr/local/bin/rdrecv', join(BIN, 'rdrecv')));
  });
  after(() => rmSync(directory, { recursive: true }));

  it('has no mistakes', () => {
    const { status, stderr } = runProgram('systemd-analyze', ['verify', '--man=no', unit]);
    expect({ status, stderr }).to.deep.equal({ status: 0, stderr: '' });
  });

  it('gives the server few rights', () => {
    const { stdout } = runProgram('systemd-analyze', ['security', '--offline=true', '--no-pager', unit]);
    const [, exposure] = /Overall exposure level for \S+: ([\d.]+)/.exec(stdout) ?? [];
    expect(Number(exposure)).to.be.at.most(EXPOSURE_MAX);
  });

  it('uses only options that the server has', () => {
    const [, words = ''] = /^ExecStart=\S+ (.*)$/m.exec(readFileSync(unit, 'utf8')) ?? [];
    expect(runProgram(join(BIN, 'rdrecv'), [...words.split(' '), '--help']).status).to.equal(0);
  });
});
