// SPDX-License-Identifier: Apache-2.0
// An installed copy runs from where it was put, without the checkout.
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';

const ROOT = join(import.meta.dirname, '../..');

describe('make install', () => {
  let staging: string;
  let prefix: string;

  before(() => {
    staging = mkdtempSync(join(tmpdir(), 'rdpipe-test-install-'));
    execFileSync('make', ['install', `DESTDIR=${staging}/staged`, 'PREFIX=/opt/rd'], { cwd: ROOT, stdio: 'pipe' });
    prefix = join(staging, 'moved');
    renameSync(join(staging, 'staged/opt/rd'), prefix);
  });
  after(() => rmSync(staging, { recursive: true }));

  it('puts the programs and their manual pages', () => {
    expect(readdirSync(join(prefix, 'bin')).sort()).to.deep.equal(['rdpipe', 'rdrecv', 'rdsend', 'rdstage']);
    const pages = ['rdpipe-bench.1', 'rdpipe-doctor.1', 'rdpipe.1', 'rdrecv.1', 'rdsend.1', 'rdstage.1'];
    expect(readdirSync(join(prefix, 'share/man/man1')).sort()).to.deep.equal(pages);
  });

  it('gives a copy that runs a pipeline', () => {
    const options = { input: 'hi\n', encoding: 'utf8', env: { PATH: process.env.PATH, HOME: staging } } as const;
    const run = spawnSync(join(prefix, 'bin/rdpipe'), [':tr a-z A-Z', ':rev'], options);
    expect({ status: run.status, text: run.stdout, stderr: run.stderr }).to.deep.equal({
      status: 0,
      text: 'IH\n',
      stderr: '',
    });
  });

  it('gives a copy that draws on a terminal with a size', () => {
    const line = `stty cols 80 rows 24; echo hi | ${join(prefix, 'bin/rdpipe')} -v ':tr a-z A-Z' :rev`;
    const env = { PATH: process.env.PATH, HOME: staging, TERM: 'xterm-256color' };
    const run = spawnSync('script', ['-qec', line, '/dev/null'], { input: '', encoding: 'utf8', env });
    expect(run.status, run.stdout).to.equal(0);
    expect(run.stdout).to.contain('connecting to this machine').and.to.contain('IH\r\n');
  });

  it('reads what draws only when a page is written', () => {
    const pages = join(prefix, 'lib/rdpipe/build/rdpipe/pages.cjs');
    const page = join(staging, 'run.html');
    const options = { encoding: 'utf8', env: { PATH: process.env.PATH, HOME: staging } } as const;
    const run = (...words: string[]) => spawnSync(join(prefix, 'bin/rdpipe'), words, options);
    expect(run('--report', page, ':true').status).to.equal(0);
    expect(statSync(page).size).to.be.greaterThan(1000);
    renameSync(pages, `${pages}.away`);
    expect(run(':true').status).to.equal(0);
    const { status, stderr } = run('--report', page, ':true');
    expect(status).to.equal(125);
    expect(stderr).to.match(/^rdpipe: cannot write the report to .*pages\.cjs.*\n$/);
    renameSync(`${pages}.away`, pages);
  });

  for (const program of ['rdsend', 'rdrecv', 'rdstage', 'rdpipe']) {
    it(`gives a ${program} that tells its version`, () => {
      const run = spawnSync(join(prefix, 'bin', program), ['--version'], { encoding: 'utf8' });
      expect({ status: run.status, stderr: run.stderr }).to.deep.equal({ status: 0, stderr: '' });
      expect(run.stdout).to.match(/\d+\.\d+\.\d+/);
    });
  }
});
