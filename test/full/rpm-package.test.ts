// SPDX-License-Identifier: Apache-2.0
// The .rpm: what it requires, that it has the content of the .deb, and in a bare system:
// installed by rpm, tried, removed.
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { arch, tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { execaSync } from 'execa';
import { makeRpm } from '../../scripts/dist/rpm.ts';
import { BareDebian, type Typed } from '../support/bare-debian.ts';
import { differences } from '../support/differences.ts';
import { needsRoot, needsTool } from '../support/needs.ts';
import { patience } from '../support/patience.ts';
import { ROOT } from '../support/root.ts';

const LONGEST_MS = 900_000;
const CPU = { x64: 'x86_64', arm64: 'aarch64' }[arch()] ?? arch();
/** Debian's names of the packages that it requires. */
const PACKAGES = ['bash-completion', 'libssl3', 'man-db', 'nodejs', 'openssh-client'];
/** Capabilities of glibc, openssl-libs, openssh-clients and nodejs in RHEL 9, with the module nodejs:20. */
const RHEL_9 = [
  'nodejs(engine) = 20.19.2',
  '/usr/bin/ssh',
  'rtld(GNU_HASH)',
  ...['libc.so.6', 'libssl.so.3', 'libcrypto.so.3'].map((library) => `${library}()(64bit)`),
  ...['libssl.so.3', 'libcrypto.so.3'].map((library) => `${library}(OPENSSL_3.0.0)(64bit)`),
  ...glibcVersions(34),
];
/** Not in both, or in another directory: the licence and the link to it, two documents of Debian, zsh's completion. */
const PLACED_OTHERWISE = /^share\/doc\/rdpipe\/(?:LICENSE|README\.md|copyright|changelog\.gz)$|^share\/zsh/;
const USES = [
  "echo hi | rdpipe :'tr a-z A-Z' :rev",
  'mkdir /tmp/a && echo copied >/tmp/a/file && rdcp -r /tmp/a/ /tmp/b && cat /tmp/b/file; rm -r /tmp/a /tmp/b',
  'man -w rdpipe && man -w rdcp',
  '. /usr/share/bash-completion/bash_completion; _completion_loader rdpipe || [ $? = 124 ]; complete -p rdpipe',
  'rdpipe --version -v',
  'rdpipe demo',
];

describe('the .rpm', function () {
  this.timeout(patience(LONGEST_MS));
  let dist: string;
  let file: string;

  before(function () {
    needsRoot(this);
    needsTool(this, 'debootstrap', 'rpmbuild', 'unshare');
    dist = mkdtempSync(join(tmpdir(), 'rdpipe-test-rpm-'));
    const packages = join(dist, 'packages');
    execaSync('node_modules/.bin/tsx', ['scripts/dist.ts', '--cpu', CPU, '--out', packages], { cwd: ROOT });
    file = join(packages, readdirSync(packages).find((name) => name.endsWith(`.${CPU}.rpm`)) ?? '');
  });
  after(() => rmSync(dist ?? '', { recursive: true, force: true }));

  it('is accepted by a system with the packages of RHEL 9, not by an older one', () => {
    const older = RHEL_9.filter((capability) => !capability.includes('GLIBC_2.34'));
    expect(tryInstall('rhel8', older)).to.match(/libc\.so\.6\(GLIBC_2\.34\)\(64bit\) is needed by rdpipe-/);
    const node = RHEL_9.map((capability) => capability.replace('20.19.2', '16.20.2'));
    expect(tryInstall('node16', node)).to.match(/nodejs\(engine\) >= 18\.19 .*is needed by rdpipe-/);
    expect(tryInstall('rhel9', RHEL_9)).to.equal('');
  });

  it('has the files of the .deb', () => {
    const [deb, root] = [join(dist, 'deb'), join(dist, 'root')];
    const archive = readdirSync(join(dist, 'packages')).find((name) => name.endsWith('.deb')) ?? '';
    execaSync('dpkg-deb', ['--extract', join(dist, 'packages', archive), deb]);
    mkdirSync(root);
    expect(rpm(root, '--install', '--nodeps', file)).to.equal('');
    expect(differences(join(deb, 'usr'), join(root, 'usr'), PLACED_OTHERWISE)).to.deep.equal([]);
    expect(readdirSync(join(root, 'usr/share/zsh/site-functions')).sort()).to.deep.equal(['_rdpipe', '_rdssh']);
    expect(readdirSync(join(root, 'usr/share/doc/rdpipe'))).to.include.members(['LICENSE', 'sbom.cdx.json']);
  });

  /** Returns the messages of rpm in an empty system with these capabilities. */
  function tryInstall(name: string, capabilities: readonly string[]): string {
    const [system, empty, provider] = [join(dist, name), join(dist, `${name}.empty`), join(dist, `${name}.rpm`)];
    for (const directory of [system, empty]) mkdirSync(directory);
    const provides = capabilities.map((capability) => `Provides: ${capability}`).join('\n');
    const tags = `Name: ${name}\nVersion: 9\nRelease: 1\nSummary: s\nLicense: MIT\nAutoReqProv: no\n${provides}`;
    makeRpm(empty, CPU, `${tags}\n\n%description\ns\n`, provider, 0);
    rpm(system, '--install', provider);
    return rpm(system, '--install', '--test', file);
  }

  describe('in a bare system', () => {
    let system: BareDebian;
    let pristine: readonly string[];

    before(async () => {
      system = await BareDebian.makeWithoutNode(PACKAGES);
      system.addUser('ann', false);
      pristine = files();
    });
    after(() => system?.remove());

    it('is installed by rpm, for all users', async () => {
      expect(rpm(system.path(), '--install', '--nodeps', file)).to.equal('');
      for (const user of ['ann', 'root']) expectUses(await system.type(user, ...USES));
      expect(rpm(system.path(), '--verify', '--nodeps', 'rdpipe')).to.equal('');
    });

    it('is removed by rpm, and leaves nothing', () => {
      expect(rpm(system.path(), '--erase', 'rdpipe')).to.equal('');
      expect(files()).to.deep.equal(pristine);
    });

    /** All files and directories of the system, without those of users and of rpm. */
    function files(): string[] {
      const { stdout } = execaSync('find', ['usr', 'etc', 'opt'], { cwd: system.path() });
      return stdout.split('\n').sort();
    }
  });
});

/** Runs rpm on the system in a directory; returns its messages, without Debian's advice to use another program. */
function rpm(system: string, ...words: readonly string[]): string {
  const { all } = execaSync('rpm', ['--root', system, ...words], { all: true, reject: false });
  return all.replace(/^rpm: (?:RPM should not|However assuming).*\n?/gm, '');
}

/** Each version of glibc up to 2.`minor` is a capability of it. */
function glibcVersions(minor: number): string[] {
  const versions = ['2.2.5', '2.3.2', '2.3.4', ...Array.from({ length: minor - 2 }, (_, index) => `2.${index + 3}`)];
  return versions.map((version) => `libc.so.6(GLIBC_${version})(64bit)`);
}

function expectUses({ status, screen }: Typed): void {
  expect(status, screen).to.equal(0);
  for (const text of ['IH\n', 'copied\n', '/man1/rdpipe.1', '/man1/rdcp.1', 'complete ', 'h2: 2147483648\n'])
    expect(screen).to.contain(text);
  expect(screen).to.match(/^OpenSSL 3/m);
}
