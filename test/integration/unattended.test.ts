// SPDX-License-Identifier: Apache-2.0
// The examples of docs/unattended.md: lines of cron as cron runs them, units of systemd.
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { useLab } from '../support/lab.ts';
import { needsTool } from '../support/needs.ts';
import { ROOT } from '../support/root.ts';
import { runProgram } from '../support/run-program.ts';
import { succeeded } from '../support/shell.ts';

const UNIT = join(ROOT, 'contrib/rdcp-nightly.service');
const TIMER = join(ROOT, 'contrib/rdcp-nightly.timer');

describe('the examples of unattended copies', () => {
  const lab = useLab();

  it('copy as a line of cron: without terminal, with its PATH, silently', async () => {
    const [, line = ''] = /^30 3 \* \* \* +(.*)$/m.exec(readFileSync(join(ROOT, 'docs/unattended.md'), 'utf8')) ?? [];
    await expectCopies(line, 'PATH=/usr/bin:/bin');
  });

  it('copy as a service of systemd', async () => {
    const [, line = ''] = /^ExecStart=(.*)$/m.exec(readFileSync(UNIT, 'utf8')) ?? [];
    await expectCopies(line, 'PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin');
  });

  /** Types the example, with directories and a host of this lab, twice: the second copy removes a file. */
  async function expectCopies(line: string, path: string): Promise<void> {
    const own = line
      .replace('/usr/local/bin/rdcp', '"$rdcp"')
      .replace('/srv/site/', '"$PWD"/site/')
      .replace('storage:/backup/site/', 'h1:"$PWD"/copy/');
    expect(own)
      .to.contain('"$rdcp" -aq --delete')
      .and.to.match(/site\/ h1:"\$PWD"\/copy\/$/);
    await lab.write('line', Buffer.from(own));
    const setting = `${path} SHELL=/bin/sh LOGNAME="$(id -un)" HOME="$HOME" rdcp="$(command -v rdcp)"`;
    const night = `setsid --wait env -i ${setting} ${lab.markSetting} /bin/sh line </dev/null`;
    const results = await lab.sh(
      `mkdir site copy && echo one >site/one && echo two >site/two
      ${night} && rm site/two && ${night} && ls copy && cat copy/one`,
    );
    succeeded(results, 'one\none\n');
    expect(results.stderr).to.equal('');
  }
});

describe('the units of a nightly copy', () => {
  const directory = mkdtempSync(join(tmpdir(), 'rdpipe-test-units-'));
  after(() => rmSync(directory, { recursive: true }));

  it('have no mistakes', function () {
    needsTool(this, 'systemd-analyze');
    const [unit, timer] = [join(directory, 'rdcp-nightly.service'), join(directory, 'rdcp-nightly.timer')];
    writeFileSync(
      unit,
      readFileSync(UNIT, 'utf8').replace('/usr/local/bin', join(ROOT, 'bin')).replace('User=backup', 'User=root'),
    );
    copyFileSync(TIMER, timer);
    const { status, stderr } = runProgram('systemd-analyze', ['verify', '--man=no', unit, timer]);
    expect({ status, stderr }).to.deep.equal({ status: 0, stderr: '' });
  });
});
