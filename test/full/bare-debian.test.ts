// SPDX-License-Identifier: Apache-2.0
// How docs/install.md builds, installs and tries a checkout, line by line as printed,
// on a machine that meets only the requirements listed there: as root, as a user with sudo, and as a user without.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { BareDebian, RELEASES, type Typed } from '../support/bare-debian.ts';
import { needsRoot, needsTool } from '../support/needs.ts';
import { patience } from '../support/patience.ts';
import { linesOfBlock } from '../support/readme.ts';
import { ROOT } from '../support/root.ts';

const UNATTENDED = readFileSync(join(ROOT, 'docs/unattended.md'), 'utf8');
const LONGEST_MS = 1_800_000;
/** The first line lists the packages and takes more than one row of the screen. */
const LINES_OF_SETUP_MAX = 8;

for (const [name, release] of Object.entries(RELEASES))
  describe(`docs/install.md in a bare ${name}`, function () {
    this.timeout(patience(LONGEST_MS));
    inBareDebian(release);
  });

function inBareDebian(release: string): void {
  let system: BareDebian;
  let roots: BareDebian;

  before(async function () {
    needsRoot(this);
    needsTool(this, 'debootstrap', 'git', 'npm', 'unshare');
    system = await BareDebian.make(release);
    roots = system.copy();
    roots.addCheckout('root');
    system.addUser('ann', false);
    system.addUser('bob', true);
    for (const user of ['ann', 'bob']) system.addCheckout(user);
  });
  after(() => {
    system?.remove();
    roots?.remove();
  });

  for (const script of ['demo', 'build']) {
    it(`names missing packages in one line, for a user without sudo: npm run ${script}`, async () => {
      const { status, screen } = await system.type('ann', 'cd rdpipe', `npm run ${script}`);
      expect(status, screen).to.equal(1);
      expect(linesOfSetup(screen), screen).to.have.length(1);
      expect(screen).to.match(/^setup: .* missing; .*: sudo apt-get install build-essential .*$/m);
    });
  }

  it('is tried by a user with sudo', async () => {
    expectDemo(await system.type('bob', 'cd rdpipe', tryIt()));
  });

  it('is installed by a user with sudo', async () => {
    const [build = '', install = ''] = linesOfBlock('docs/install.md', '## From a checkout', 0);
    expect(install).to.match(/^sudo make install/);
    expectDemo(await system.type('bob', 'cd rdpipe', build, install, 'cd /', 'rdpipe demo'));
    const { screen } = await system.type('bob', 'find rdpipe -user root');
    expect(screen).to.equal('');
  });

  it('starts from cron as in the example, if node is not in PATH', async () => {
    const [, command = ''] = /^15 2 \* \* \* +(.*)$/m.exec(UNATTENDED) ?? [];
    const cron = 'env -i HOME=/home/bob LOGNAME=bob SHELL=/bin/sh PATH=/usr/bin:/bin sh -c';
    const { status, screen } = await system.type('bob', `${cron} "$(cat <<'END'\n${command}\nEND\n)"`);
    expect(screen).to.match(/^rdpipe: cannot reach (?:root@)?h[12]: .*\n$/);
    expect(status).to.equal(125);
  });

  it('is removed by make uninstall', async () => {
    const { status, screen } = await system.type('bob', 'cd rdpipe', 'sudo make uninstall');
    expect(status, screen).to.equal(0);
    expect(readdirSync(system.path('usr/local/bin')).sort()).to.deep.equal(['node', 'npm']);
    expect(existsSync(system.path('usr/local/lib/rdpipe'))).to.equal(false);
    expect(readdirSync(system.path('usr/local/share/man/man1'))).to.deep.equal([]);
  });

  it('is installed by a user without sudo, in the home directory', async () => {
    const [build = ''] = linesOfBlock('docs/install.md', '## From a checkout', 0);
    const [install = ''] = linesOfBlock('docs/install.md', '## From a checkout', 1);
    const installed = await system.type('ann', 'cd rdpipe', build, install);
    expect(installed.status, installed.screen).to.equal(0);
    expectDemo(await system.type('ann', 'rdpipe demo'));
    expect(readdirSync(system.path('home/ann/.local/share/man/man1'))).to.contain('rdpipe.1');
  });

  it('is tried and installed by root', async () => {
    expectDemo(await roots.type('root', 'cd rdpipe', tryIt()));
    const lines = linesOfBlock('docs/install.md', '## From a checkout', 0);
    expectDemo(await roots.type('root', 'cd rdpipe', ...lines, 'cd /', 'rdpipe demo'));
  });
}

/** Returns the first line of "Try it without installing"; the second, npm test, runs this test. */
function tryIt(): string {
  const [demo = '', test = ''] = linesOfBlock('docs/install.md', '## Try it without installing', 0);
  expect(demo).to.match(/^npm run demo/);
  expect(test).to.match(/^npm test/);
  return demo;
}

function expectDemo({ status, screen }: Typed): void {
  expect(status, screen).to.equal(0);
  expect(screen)
    .to.contain('\nIH\n')
    .and.to.contain('h2: 2147483648\n')
    .and.to.match(/^Bandwidth \d/m);
  expect(linesOfSetup(screen).length, screen).to.be.at.most(LINES_OF_SETUP_MAX);
}

/** Returns the lines of the setup without the notices of npm. */
function linesOfSetup(screen: string): string[] {
  const from = screen.indexOf('setup: ');
  const until = /^(?:two throwaway hosts|rdpipe [\d.]+ is installed|make: )/m.exec(screen)?.index;
  const rows = from < 0 ? [] : screen.slice(from, until).trimEnd().split('\n');
  return rows.filter((row) => !row.startsWith('npm notice'));
}
