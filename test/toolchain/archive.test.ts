// SPDX-License-Identifier: Apache-2.0
// Archives of a release do not depend on times and modes of files, nor on the source directory's name.
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { execaSync } from 'execa';
import { makeDeb, makeTarGz, sourceDateEpoch } from '../../scripts/dist/archive.ts';
import { makeRpm } from '../../scripts/dist/rpm.ts';
import { needsTool } from '../support/needs.ts';

const EPOCH = 1_700_000_000;
const CONTROL = 'Package: sample\nVersion: 1\nArchitecture: all\nMaintainer: A <a@b.example>\nDescription: sample\n';
const PREAMBLE = 'Name: sample\nVersion: 1\nRelease: 1\nSummary: s\nLicense: MIT\nAutoReqProv: no\n\n%description\ns\n';
const TAGS = '%{ARCH} %{OS} %{BUILDHOST} %{BUILDTIME} [%{FILENAMES} %{FILEMODES:perms} %{FILEMTIMES}\n]';

describe('an archive', () => {
  let scratch: string;

  before(() => {
    scratch = mkdtempSync(join(tmpdir(), 'rdpipe-test-archive-'));
    makeSample('one', 0o755, 0o644, 1000);
    makeSample('another', 0o775, 0o664, 2_000_000_000);
  });
  after(() => rmSync(scratch, { recursive: true }));

  it('is the same tarball from equal directories, with its prefix, the time and no owner', () => {
    const [tarball = '', other = ''] = ['one', 'another'].map((name) => {
      const file = join(scratch, `${name}.tar.gz`);
      makeTarGz(join(scratch, name), file, 'sample-1', EPOCH);
      return file;
    });
    expect(readFileSync(tarball).equals(readFileSync(other))).to.equal(true);
    const env = { TZ: 'UTC' };
    const { stdout } = execaSync('tar', ['-tvzf', tarball], { env });
    expect(stdout.split('\n').map((line) => line.replace(/ +/g, ' '))).to.deep.equal([
      'drwxr-xr-x 0/0 0 2023-11-14 22:13 sample-1/',
      'drwxr-xr-x 0/0 0 2023-11-14 22:13 sample-1/bin/',
      'lrwxr-xr-x 0/0 0 2023-11-14 22:13 sample-1/bin/link -> ./program',
      '-rwxr-xr-x 0/0 8 2023-11-14 22:13 sample-1/bin/program',
      '-rw-r--r-- 0/0 3 2023-11-14 22:13 sample-1/page',
    ]);
  });

  it('is the same Debian package from equal directories, with its size and digests', function () {
    needsTool(this, 'dpkg-deb');
    const [deb = '', other = ''] = ['one', 'another'].map((name) => {
      const file = join(scratch, `${name}.deb`);
      makeDeb(join(scratch, name), CONTROL, file, EPOCH);
      return file;
    });
    expect(readFileSync(deb).equals(readFileSync(other))).to.equal(true);
    const { stdout } = execaSync('dpkg-deb', ['--contents', deb], { env: { TZ: 'UTC' } });
    expect(stdout).to.match(/^-rwxr-xr-x root\/root +8 2023-11-14 22:13 \.\/bin\/program$/m);
    expect(execaSync('dpkg-deb', ['--field', deb, 'Installed-Size']).stdout).to.equal('4');
    execaSync('dpkg-deb', ['--control', deb, join(scratch, 'control')]);
    const sums = readFileSync(join(scratch, 'control/md5sums'), 'utf8');
    expect(sums).to.match(/^[0-9a-f]{32} {2}bin\/program\n[0-9a-f]{32} {2}page\n$/);
  });

  it('is the same RPM package from equal directories, for any CPU, without the machine that built it', function () {
    needsTool(this, 'rpmbuild');
    const [rpm = '', other = ''] = ['one', 'another'].map((name) => {
      const file = join(scratch, `${name}.rpm`);
      makeRpm(join(scratch, name), 'aarch64', PREAMBLE, file, EPOCH);
      return file;
    });
    expect(readFileSync(rpm).equals(readFileSync(other))).to.equal(true);
    const { stdout } = execaSync('rpm', ['--query', '--package', '--queryformat', TAGS, rpm]);
    expect(stdout.split('\n')).to.deep.equal([
      `aarch64 linux reproducible ${EPOCH} /bin drwxr-xr-x ${EPOCH}`,
      `/bin/link lrwxrwxrwx ${EPOCH}`,
      `/bin/program -rwxr-xr-x ${EPOCH}`,
      `/page -rw-r--r-- ${EPOCH}`,
    ]);
  });

  function makeSample(name: string, directoryMode: number, fileMode: number, time: number): void {
    const directory = join(scratch, name);
    mkdirSync(join(directory, 'bin'), { recursive: true });
    writeFileSync(join(directory, 'page'), 'hi\n');
    writeFileSync(join(directory, 'bin/program'), '#!true\n\n');
    symlinkSync('./program', join(directory, 'bin/link'));
    chmodSync(join(directory, 'page'), fileMode);
    for (const path of ['bin/program', 'bin', '.']) chmodSync(join(directory, path), directoryMode);
    for (const path of ['page', 'bin/program', 'bin', '.']) utimesSync(join(directory, path), time, time);
  }
});

describe('the time of a release', () => {
  let directory: string;

  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'rdpipe-test-epoch-'));
  });
  afterEach(() => rmSync(directory, { recursive: true }));

  it('is SOURCE_DATE_EPOCH, which must be a number', () => {
    expect(sourceDateEpoch(directory, { SOURCE_DATE_EPOCH: '12' })).to.equal(12);
    expect(() => sourceDateEpoch(directory, { SOURCE_DATE_EPOCH: 'today' })).to.throw(
      'SOURCE_DATE_EPOCH is today (give the seconds since 1970)',
    );
  });

  it('is that of the commit', () => {
    const env = { GIT_COMMITTER_DATE: `@${EPOCH} +0900`, HOME: directory };
    const identity = ['-c', 'user.name=a', '-c', 'user.email=a@b.example'];
    execaSync('git', ['init', '-q'], { cwd: directory, env });
    execaSync('git', [...identity, 'commit', '-q', '--allow-empty', '-m', 'x'], { cwd: directory, env });
    expect(sourceDateEpoch(directory, {})).to.equal(EPOCH);
  });

  it('is the newest date of CHANGELOG without git, and 0 without a date', () => {
    const changelog = join(directory, 'CHANGELOG.md');
    writeFileSync(changelog, '# Changelog\n\n## [0.2.0] - not released yet\n');
    expect(sourceDateEpoch(directory, {})).to.equal(0);
    writeFileSync(changelog, '# Changelog\n\n## [0.2.0] - 2026-11-23\n\n## [0.1.0] - 2025-01-01\n');
    expect(sourceDateEpoch(directory, {})).to.equal(Date.UTC(2026, 10, 23) / 1000);
  });
});
