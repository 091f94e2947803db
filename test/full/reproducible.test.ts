// SPDX-License-Identifier: Apache-2.0
// Two builds of the packages from clones of one commit, in different environments, are identical.
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { execa, execaSync } from 'execa';
import { differences } from '../support/differences.ts';
import { needsTool } from '../support/needs.ts';
import { patience } from '../support/patience.ts';
import { ROOT } from '../support/root.ts';

/** Properties of a build environment that may differ between two maintainers. */
interface Surroundings {
  /** Below the scratch directory. */
  readonly directory: string;
  readonly umask: string;
  readonly env: Readonly<Record<string, string>>;
}

const SURROUNDINGS: readonly Surroundings[] = [
  { directory: 'a', umask: '022', env: { TZ: 'UTC', LC_ALL: 'C' } },
  {
    directory: 'some/longer/path/of-another-maintainer',
    umask: '077',
    env: { TZ: 'Asia/Tokyo', LC_ALL: 'C.UTF-8', TAR_OPTIONS: '--verbose', USER: 'ann' },
  },
];

describe('a release that is built twice', function () {
  this.timeout(patience(3_600_000));
  let scratch: string;

  before(async function () {
    needsTool(this, 'git', 'debootstrap', 'dpkg-deb', 'dpkg-shlibdeps', 'rpmbuild', 'aarch64-linux-gnu-gcc');
    scratch = mkdtempSync(join(tmpdir(), 'rdpipe-test-release-'));
    for (const surroundings of SURROUNDINGS) await build(surroundings);
  });
  after(() => rmSync(scratch ?? '', { recursive: true, force: true }));

  it('produces every file', () => {
    const names = readdirSync(dist(SURROUNDINGS[0]));
    for (const kind of [
      /\.tgz$/,
      /_amd64\.deb$/,
      /_arm64\.deb$/,
      /\.x86_64\.rpm$/,
      /\.aarch64\.rpm$/,
      /\.tar\.gz$/,
      /^SHA256SUMS$/,
      /^THIRD-/,
      /\.cdx\.json$/,
    ])
      expect(names.filter((name) => kind.test(name))).to.have.length(1);
  });

  it('has the same bytes', () => {
    const [one, other] = SURROUNDINGS.map(dist);
    expect(differences(one ?? '', other ?? '')).to.deep.equal([]);
  });

  /** Builds with the npm packages of this checkout; setup would need a network. */
  async function build({ directory, umask, env }: Surroundings): Promise<void> {
    const clone = join(scratch, directory);
    mkdirSync(join(clone, '..'), { recursive: true });
    execaSync('sh', ['-c', `umask ${umask}; exec git clone -q "$0" "$1"`, ROOT, clone]);
    for (const modules of ['node_modules', 'packages/rdpipe/node_modules'])
      cpSync(join(ROOT, modules), join(clone, modules), { recursive: true, verbatimSymlinks: true });
    const home = join(scratch, `home-${umask}`);
    mkdirSync(home);
    const commands = 'node scripts/bundle.mjs && node_modules/.bin/tsx scripts/dist.ts';
    await execa('sh', ['-c', `umask ${umask}; ${commands}`], { cwd: clone, env: { ...env, HOME: home } });
  }

  function dist(surroundings: Surroundings | undefined): string {
    return join(scratch, surroundings?.directory ?? '', 'dist');
  }
});
