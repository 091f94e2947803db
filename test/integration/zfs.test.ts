// SPDX-License-Identifier: Apache-2.0
// A real replication: full and incremental, and one that fails half-way.
import { expect } from 'chai';
import { useLab } from '../support/lab.ts';
import { needsFile, needsRoot, needsTool } from '../support/needs.ts';
import { succeeded } from '../support/shell.ts';
import { startZfs, type Zfs, type ZfsPool } from '../support/zfs.ts';

describe('zfs send | zfs recv', () => {
  const lab = useLab();
  let zfs: Zfs;

  before(async function () {
    needsRoot(this);
    needsTool(this, 'zfs-fuse', 'zfs', 'zpool');
    needsFile(this, '/dev/fuse');
    zfs = await startZfs();
  });
  after(() => zfs?.close());

  it('copies a full snapshot', async () => {
    const { from, to } = zfs;
    succeeded(
      await lab.sh(`
        zfs create ${from.name}/data && head -c 32M /dev/urandom > ${from.directory}/data/big && echo one > ${from.directory}/data/small
        zfs snapshot ${from.name}/data@one
        rdpipe h1:'zfs send ${from.name}/data@one' h2:'zfs recv -u ${to.name}/data' && zfs mount ${to.name}/data
        diff -r ${from.directory}/data ${to.directory}/data`),
      '',
    );
  });

  it('copies an incremental one', async () => {
    const { from, to } = zfs;
    succeeded(
      await lab.sh(`
        echo two > ${from.directory}/data/small; rm ${from.directory}/data/big; head -c 8M /dev/urandom > ${from.directory}/data/other
        zfs snapshot ${from.name}/data@two
        rdpipe h1:'zfs send -i @one ${from.name}/data@two' h2:'zfs recv -F -u ${to.name}/data'
        ${remountData(to)}; diff -r ${from.directory}/data ${to.directory}/data`),
      '',
    );
  });

  it('leaves the receiving dataset unchanged when the sender is killed half-way', async () => {
    const { from, to } = zfs;
    await lab.sh(`head -c 64M /dev/urandom > ${from.directory}/data/more; zfs snapshot ${from.name}/data@three`);
    const before = await lab.sh(`zfs get -Hp -r guid ${to.name}`);
    const sender = `zfs send -i @two ${from.name}/data@three | head -c 20M; kill -9 $$`;
    const broken = await lab.sh(`rdpipe h1:'${sender}' h2:'zfs recv -F -u ${to.name}/data'`);
    expect(broken.status).to.equal(137);
    expect(broken.stderr).to.match(/^rdpipe: stage 1 .*SIGKILL.*stage 2 was stopped/m);
    const after = await lab.sh(`zfs get -Hp -r guid ${to.name}`);
    expect(after.text).to.equal(before.text).and.to.include('@two');
  });

  it('can be repeated after that', async () => {
    const { from, to } = zfs;
    succeeded(
      await lab.sh(`
        ${whenReleased(`rdpipe h1:'zfs send -i @two ${from.name}/data@three' h2:'zfs recv -F -u ${to.name}/data'`)}
        ${remountData(to)}; diff -r ${from.directory}/data ${to.directory}/data`),
      '',
    );
  });
});

/** zfs-fuse releases a dataset only some time after the program that received into it was killed. */
function whenReleased(command: string): string {
  const isBusy = "grep -q 'dataset is busy' told";
  return `for try in $(seq 300); do ${command} 2> told; ${isBusy} || break; sleep 0.2; done; cat told >&2`;
}

/** zfs-fuse releases a mount only some time after it reports the release. */
function remountData({ name }: ZfsPool): string {
  const mount = `zfs mount ${name}/data`;
  return `zfs umount ${name}/data 2> /dev/null; for try in $(seq 300); do ${mount} 2> /dev/null && break; sleep 0.2; done`;
}
