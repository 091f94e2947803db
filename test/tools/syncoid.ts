// SPDX-License-Identifier: Apache-2.0
// syncoid finds ssh only by PATH, so rdssh is there under the name `ssh`, before ssh itself.
import { chmodSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { type Lab, useLab } from '../support/lab.ts';
import { needsFile, needsRoot, needsTool } from '../support/needs.ts';
import { ROOT } from '../support/root.ts';
import { startZfs, type Zfs } from '../support/zfs.ts';

export function describeSyncoid(): void {
  describe('rdssh under the name of ssh is the ssh of', () => {
    const shimmed = 'ForceCommand PATH=$HOME/bin:$PATH exec sh -c "$SSH_ORIGINAL_COMMAND"';
    const lab = useLab({ hosts: [{ name: 'pools', server: [shimmed] }] });
    describe('programs that accept no other name', () => tests(lab));
  });
}

/** In a nested describe(), because its hooks run before the lab checks for processes that are left. */
function tests(lab: Lab): void {
  let zfs: Zfs;
  before(async function () {
    needsRoot(this);
    needsTool(this, 'syncoid', 'zfs-fuse', 'zfs', 'zpool');
    needsFile(this, '/dev/fuse');
    zfs = await startZfs();
  });
  afterEach(() => lab.endKeptConnections());
  after(() => zfs?.close());

  it('syncoid, full and incremental', async () => {
    const { from, to } = zfs;
    const log = join(lab.directory, 'ssh.log');
    putFirst(lab, log);
    for (const directory of [join(lab.directory, 'shim'), join(lab.host('pools').home, 'bin')]) addZfs(directory);
    const result = await lab.sh(
      `PATH=$PWD/first:$PWD/second:$PWD/shim:$PATH; set -e
      sync() { syncoid --quiet --no-privilege-elevation --no-resume --compress=none ${from.name}/data pools:${to.name}/data; }
      check() { zfs mount ${to.name}/data 2> /dev/null || true; diff -r ${from.directory}/data ${to.directory}/data; }
      zfs create ${from.name}/data; head -c 32M /dev/urandom > ${from.directory}/data/big
      sync; check; zfs umount ${to.name}/data; echo two > ${from.directory}/data/two; sync; check`,
    );
    expect({ status: result.status, stderr: result.stderr, text: result.text }).to.deep.equal({
      status: 0,
      stderr: '',
      text: '',
    });
    // Only control connections used ssh itself.
    const lines = readFileSync(log, 'utf8');
    expect(lines)
      .to.include(' -M ')
      .and.not.to.match(/receive|recv/);
  });
}

/** Creates a link to rdssh, and later in PATH a program that logs the command lines of ssh itself. */
function putFirst(lab: Lab, log: string): void {
  for (const name of ['first', 'second']) mkdirSync(join(lab.directory, name));
  symlinkSync(join(ROOT, 'bin/rdssh'), join(lab.directory, 'first/ssh'));
  const itself = join(lab.directory, 'second/ssh');
  const config = join(lab.homes, 'ssh_config');
  writeFileSync(itself, `#!/bin/sh\necho " $* " >> ${log}\nexec /usr/bin/ssh -F ${config} "$@"\n`);
  chmodSync(itself, 0o755);
}

/** zfs-fuse is too old for `zfs get -t`, and syncoid's fallback fails on every remote host. */
function addZfs(directory: string): void {
  mkdirSync(directory);
  const withoutType = `[ "$4 $5" = '-t snapshot' ] && shift 5 && set -- get -Hpd 1 "$@"`;
  writeFileSync(join(directory, 'zfs'), `#!/bin/sh\n${withoutType}\nexec /usr/sbin/zfs "$@"\n`, { mode: 0o755 });
}
