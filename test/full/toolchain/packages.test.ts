// SPDX-License-Identifier: Apache-2.0
// The packages for this machine's CPU: each is unpacked or installed,
// and runs without the checkout.
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect } from 'chai';
import { execaSync } from 'execa';
import { VERSION } from '../../../packages/rdpipe/src/model/version.ts';
import { brokenLinks } from '../../../scripts/dist/documents.ts';
import { ROOT } from '../../support/root.ts';
import { runProgram } from '../../support/run-program.ts';

const CPU = process.arch === 'x64' ? 'x86_64' : 'aarch64';
const DEB = `rdpipe_${VERSION}_${process.arch === 'x64' ? 'amd64' : 'arm64'}.deb`;
const NPM = `rdpipe-${VERSION}.tgz`;
const TARBALL = `rdpipe-${VERSION}-linux.tar.gz`;

describe('the packages', () => {
  let directory: string;
  let dist: string;

  before(() => {
    directory = mkdtempSync(join(tmpdir(), 'rdpipe-test-packages-'));
    dist = join(directory, 'dist');
    execaSync('node_modules/.bin/tsx', ['scripts/dist.ts', '--cpu', CPU, '--out', dist], { cwd: ROOT });
  });
  after(() => rmSync(directory, { recursive: true }));

  const make = (name: string): string => {
    const made = join(directory, name);
    mkdirSync(made);
    return made;
  };
  /** An environment with nothing of this one except the path to node. */
  const env = () => ({ PATH: `${dirname(process.execPath)}:/usr/bin:/bin`, HOME: directory });
  const run = (program: string, words: readonly string[] = [], input = '') =>
    runProgram(program, words, { input, env: env(), extendEnv: false, cwd: directory });

  const runsIn = (bin: string) => {
    const { status, stdout, stderr } = run(join(bin, 'rdpipe'), [':tr a-z A-Z', ':rev'], 'hi\n');
    expect({ status, stdout, stderr }).to.deep.equal({ status: 0, stdout: 'IH\n', stderr: '' });
    for (const name of ['rdpipe', 'rdcp', 'rdssh', 'rdsend', 'rdrecv', 'rdstage', 'rdtree'])
      expect(run(join(bin, name), ['--version']), name).to.include({ status: 0, stdout: `${name} ${VERSION}\n` });
    const copied = run(join(bin, 'rdcp'), [join(dist, 'SHA256SUMS'), join(directory, 'copied')]);
    expect(copied, copied.stderr).to.include({ status: 0 });
    expect(readFileSync(join(directory, 'copied'))).to.deep.equal(readFileSync(join(dist, 'SHA256SUMS')));
    rmSync(join(directory, 'copied'));
  };

  it('exist, and have the digests of their list', () => {
    expect(readdirSync(dist)).to.include.members([DEB, NPM, TARBALL, 'SHA256SUMS']);
    const listed = readFileSync(join(dist, 'SHA256SUMS'), 'utf8').match(/(?<= {2}).+/g);
    expect(listed).to.deep.equal(
      readdirSync(dist)
        .filter((name) => name !== 'SHA256SUMS')
        .sort(),
    );
    execaSync('sha256sum', ['--check', '--quiet', 'SHA256SUMS'], { cwd: dist });
  });

  describe('the tarball', () => {
    it('runs from where it is unpacked, and is removed by its list', () => {
      const prefix = make('prefix');
      execaSync('tar', ['xzf', join(dist, TARBALL), '-C', prefix, '--strip-components=1']);
      runsIn(join(prefix, 'bin'));
      expect(filesBelow(prefix).filter(isOfOneMachine)).to.deep.equal([]);
      expectDocuments(join(prefix, 'share/doc/rdpipe'));
      execaSync('sh', ['-c', 'xargs rm <lib/rdpipe/installed; rm -r share/doc/rdpipe'], { cwd: prefix });
      expect(filesBelow(prefix)).to.deep.equal([]);
    });
  });

  describe('the package for npm', () => {
    const npm = (...words: string[]) =>
      run('npm', [...words, '--offline', '--global', `--prefix=${join(directory, 'npm')}`]);

    it('is installed without a network, runs, and is removed', () => {
      const prefix = join(directory, 'npm');
      const installed = npm('install', join(dist, NPM));
      expect(installed, installed.stderr).to.include({ status: 0 });
      runsIn(join(prefix, 'bin'));
      expect(filesBelow(prefix).filter(isOfOneMachine)).to.deep.equal([]);
      expect(existsSync(join(prefix, 'share/man/man1/rdcp.1')), 'a manual page').to.equal(true);
      expectDocuments(join(prefix, 'lib/node_modules/rdpipe'));
      const completion = ['bash-completion/completions/rdcp', 'zsh/site-functions/_rdpipe'];
      for (const file of completion) expect(statSync(join(prefix, 'share', file)).isFile(), file).to.equal(true);
      expect(npm('uninstall', 'rdpipe')).to.include({ status: 0 });
      expect(readdirSync(join(prefix, 'bin'))).to.deep.equal([]);
      expect(existsSync(join(prefix, 'share/man/man1/rdcp.1')), 'a manual page').to.equal(false);
    });

    it('runs if install scripts are not run', () => {
      const prefix = join(directory, 'npm');
      expect(npm('install', '--ignore-scripts', join(dist, NPM))).to.include({ status: 0 });
      runsIn(join(prefix, 'bin'));
    });
  });

  describe('the package for Debian', () => {
    it('runs from where it is unpacked', () => {
      const root = make('debian');
      execaSync('dpkg-deb', ['--extract', join(dist, DEB), root]);
      runsIn(join(root, 'usr/bin'));
      expect(filesBelow(root).filter(isOfOneMachine)).to.deep.equal([]);
      expectDocuments(join(root, 'usr/share/doc/rdpipe'));
    });

    it('declares its dependencies', () => {
      const field = (name: string) => execaSync('dpkg-deb', ['--field', join(dist, DEB), name]).stdout;
      expect(field('Depends'))
        .to.match(/^nodejs \(>= 18\.19\), openssh-client, /)
        .and.to.match(/libc6 \(>= 2\.\d+\)/)
        .and.to.match(/libssl3(?:t64)? \(>= 3\.\d+\.\d+\)/);
      expect(field('Recommends')).to.contain('librdmacm1');
      expect(field('Version')).to.equal(VERSION);
    });
  });
});

/** Expects README and the documents that it links to. */
function expectDocuments(directory: string): void {
  expect(readdirSync(directory)).to.include.members(['README.md', 'SECURITY.md', 'docs', 'examples']);
  expect(brokenLinks(directory)).to.deep.equal([]);
}

/** True for a file that depends on the machine that built it. */
function isOfOneMachine(path: string): boolean {
  return /node-path$/.test(path);
}

/** All files below a directory, with their relative paths. */
function filesBelow(directory: string): string[] {
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => !entry.isDirectory())
    .map((entry) => join(entry.parentPath, entry.name).slice(directory.length + 1));
}
