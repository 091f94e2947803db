// SPDX-License-Identifier: Apache-2.0
// "Install" of README and "Remove" of docs/install.md, line by line as printed,
// without compiler or checkout.
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { arch, tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { execaSync } from 'execa';
import { BareDebian, releasesFromHere, type Typed } from '../support/bare-debian.ts';
import { needsRoot, needsTool } from '../support/needs.ts';
import { patience } from '../support/patience.ts';
import { linesOfBlock } from '../support/readme.ts';
import { ROOT } from '../support/root.ts';

const LONGEST_MS = 900_000;
/** Packages that the checks need, besides the typed commands. */
const PACKAGES = ['bash-completion', 'ca-certificates', 'man-db', 'sudo'];
const CPU = { x64: 'x86_64', arm64: 'aarch64' }[arch()] ?? arch();
const [APT = '', , NPM = '', TAR = ''] = linesOfBlock('README.md', '## Install', 0).map(forThisCpu);
const [APT_REMOVE = '', , NPM_REMOVE = '', TAR_REMOVE = ''] = linesOfBlock('docs/install.md', '## Remove', 0);
const [NPM_REMOVE_IN_HOME = ''] =
  /npm uninstall -g --prefix \S+ rdpipe/.exec(readFileSync(join(ROOT, 'docs/install.md'), 'utf8')) ?? [];
/** The line as docs/install.md gives it for users whose npm prefix belongs to root. */
const IN_HOME = (line: string) => line.replace(/^(npm \w+ -g) /, '$1 --prefix ~/.local ');

const COMPLETION =
  '. /usr/share/bash-completion/bash_completion; _completion_loader rdpipe || [ $? = 124 ]; complete -p rdpipe';
const USES = [
  "echo hi | rdpipe :'tr a-z A-Z' :rev",
  'mkdir /tmp/a && echo copied >/tmp/a/file && rdcp -r /tmp/a/ /tmp/b && cat /tmp/b/file; rm -r /tmp/a /tmp/b',
  'man -w rdpipe && man -w rdcp',
  COMPLETION,
  'rdpipe --version -v',
  'rdpipe demo',
];

describe('the packages', function () {
  this.timeout(patience(LONGEST_MS));
  let dist: string;

  before(function () {
    needsRoot(this);
    needsTool(this, 'debootstrap', 'npm', 'unshare');
    dist = mkdtempSync(join(tmpdir(), 'rdpipe-test-dist-'));
    execaSync('npm', ['run', '--silent', 'dist', '--', '--cpu', CPU, '--out', dist], { cwd: ROOT });
  });
  after(() => {
    if (dist !== undefined) rmSync(dist, { recursive: true });
  });

  for (const [name, release] of releasesFromHere())
    describe(`in a bare ${name}`, () => inBareDebian(release, () => dist));
});

/** `dist`: the directory of the packages. */
function inBareDebian(release: string, dist: () => string): void {
  let system: BareDebian;

  before(async () => {
    system = await BareDebian.makeWithoutNode(PACKAGES, { release });
    // Answers the one question of apt.
    writeFileSync(system.path('etc/apt/apt.conf.d/yes'), 'APT::Get::Assume-Yes "true";\n');
    succeeded(await system.type('root', 'apt-get -qq update'));
    system.addUser('ann', false);
    system.addUser('bob', true);
    for (const home of ['root', 'home/ann', 'home/bob']) cpSync(dist(), system.path(home), { recursive: true });
  });
  after(() => system?.remove());

  it('are installed by apt, with the node of Debian, for all users', async () => {
    const before = filesOf('usr');
    succeeded(await system.type('bob', APT));
    for (const user of ['bob', 'ann', 'root']) expectUses(await system.type(user, ...USES), 'linux-');
    succeeded(await system.type('bob', APT_REMOVE));
    expect(filesOf('usr')).to.deep.equal(before);
  });

  it("are unpacked in a user's home directory, with that node", async () => {
    succeeded(await system.type('ann', TAR));
    expectUses(await system.type('ann', ...USES), 'linux-');
    succeeded(await system.type('ann', TAR_REMOVE));
    expect(filesOf('home/ann/.local')).to.deep.equal([]);
  });

  describe('with npm', () => {
    before(() => system.installNode());

    it('are installed by root', async () => {
      succeeded(await system.type('root', NPM));
      for (const user of ['root', 'ann']) expectUses(await system.type(user, ...USES), '/usr/local/bin/node');
      succeeded(await system.type('root', NPM_REMOVE));
      expect(filesOf('usr/local').filter((file) => !/completion|site-functions/.test(file))).to.deep.equal([]);
    });

    it('are installed in the home directory of a user without sudo', async () => {
      succeeded(await system.type('ann', IN_HOME(NPM)));
      expectUses(await system.type('ann', ...USES), '/usr/local/bin/node');
      succeeded(await system.type('ann', NPM_REMOVE_IN_HOME));
      expect(filesOf('home/ann/.local').filter((file) => !/completion|site-functions/.test(file))).to.deep.equal([]);
    });
  });

  /** Files of rdpipe in a system directory. */
  function filesOf(directory: string): string[] {
    const names = readdirSync(system.path(directory), { recursive: true, withFileTypes: true });
    const files = names.filter((entry) => !entry.isDirectory()).map(({ parentPath, name }) => join(parentPath, name));
    return files
      .filter((file) => /rd(?:pipe|cp|send|recv|stage|tree|hop)/.test(file.slice(system.path('').length)))
      .sort();
  }
}

/** README names the packages for the most common CPU. */
function forThisCpu(line: string): string {
  return line.replace('_amd64.deb', CPU === 'aarch64' ? '_arm64.deb' : '_amd64.deb');
}

function succeeded({ status, screen }: Typed): void {
  expect(status, screen).to.equal(0);
}

function expectUses(typed: Typed, place: string): void {
  succeeded(typed);
  for (const text of ['IH\n', 'copied\n', '/man1/rdpipe.1', '/man1/rdcp.1', 'complete ', 'h2: 2147483648\n', place])
    expect(typed.screen).to.contain(text);
  // Also on Debian 12, whose own OpenSSL is 3.0.
  expect(typed.screen).to.match(/^hops over TCP: static, OpenSSL 3\.[5-9]\.\d+$/m);
}
