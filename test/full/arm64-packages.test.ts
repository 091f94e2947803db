// SPDX-License-Identifier: Apache-2.0
// The packages in a bare, emulated Debian for arm64, without compiler or checkout:
// installed, tried, removed.
import { cpSync, existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { execaSync } from 'execa';
import { BareDebian, type Typed } from '../support/bare-debian.ts';
import { useArm64Programs } from '../support/emulation.ts';
import { needsRoot, needsTool } from '../support/needs.ts';
import { patience } from '../support/patience.ts';
import { ROOT } from '../support/root.ts';

/** Under emulation, dpkg takes minutes. */
const LONGEST_MS = 1_800_000;
const PACKAGES = 'root/packages';

describe('the packages on arm64', function () {
  this.timeout(patience(LONGEST_MS));
  let dist: string;
  let system: BareDebian;

  useArm64Programs('all');
  before(async function () {
    needsRoot(this);
    needsTool(this, 'debootstrap', 'unshare');
    dist = mkdtempSync(join(tmpdir(), 'rdpipe-test-dist-'));
    execaSync('node_modules/.bin/tsx', ['scripts/dist.ts', '--out', dist], { cwd: ROOT });
    system = await BareDebian.makeWithoutNode(['ca-certificates'], { architecture: 'arm64' });
    cpSync(dist, system.path(PACKAGES), { recursive: true });
  });
  after(() => {
    system?.remove();
    if (dist !== undefined) rmSync(dist, { recursive: true });
  });

  const type = (...lines: readonly string[]) => system.type('root', `cd /${PACKAGES}`, ...lines);

  it('are installed by apt with all dependencies, and run', async () => {
    const installed = await type('apt-get -qq update', 'apt-get -qq -y install ./rdpipe_*_arm64.deb');
    expect(installed.status, installed.screen).to.equal(0);
    expectMainJob(await type('test ! -e /usr/bin/gcc', 'uname -m', 'echo hi | rdpipe ":tr a-z A-Z" :rev'));
    const copied = await type('rdcp -v SHA256SUMS /tmp/copy', 'cmp SHA256SUMS /tmp/copy', 'rdsend --version');
    expect(copied.status, copied.screen).to.equal(0);
    const { screen } = await type('rdpipe --version -v');
    expect(screen)
      .to.contain('programs for hosts: linux-aarch64, linux-x86_64')
      .and.to.match(/programs here: dynamic, .*linux-aarch64/)
      .and.to.match(/^hops over TCP: static, OpenSSL 3\.[5-9]\.\d+$/m);
  });

  it('are removed by apt, and leave nothing', async () => {
    const { status, screen } = await type('apt-get -qq -y purge rdpipe');
    expect(status, screen).to.equal(0);
    const left = ['usr/bin', 'usr/lib', 'usr/share/man/man1', 'usr/share/doc'].flatMap((directory) =>
      existsSync(system.path(directory)) ? readdirSync(system.path(directory)) : [],
    );
    expect(left.filter((name) => /^rd(pipe|cp|send|recv|stage|tree|hop)/.test(name))).to.deep.equal([]);
  });

  it('run from the tarball, with the installed node', async () => {
    const unpack = 'mkdir -p ~/.local && tar xzf rdpipe-*-linux.tar.gz -C ~/.local --strip-components=1';
    expectMainJob(await type(unpack, 'uname -m', 'echo hi | ~/.local/bin/rdpipe ":tr a-z A-Z" :rev'));
  });
});

function expectMainJob({ status, screen }: Typed): void {
  expect(status, screen).to.equal(0);
  expect(screen)
    .to.match(/^aarch64\n/m)
    .and.to.match(/^IH\n/m);
}
