// SPDX-License-Identifier: Apache-2.0
// A user's disk quota at the target: what fits is copied, the rest is named, and the next copy completes. The kernel of
// this machine may have no quotas, that of virtual hosts has.
import { expect } from 'chai';
import { RDCP } from '../../lab/copy-disks.ts';
import { useVirtualHosts } from '../../lab/use-virtual-hosts.ts';
import { needsTool } from '../../support/needs.ts';
import { ROOT } from '../../support/root.ts';

const DISK = '/tmp/quota';
const IMAGE = '/tmp/quota.ext4';
const MAKE = [
  `mkdir ${DISK}`,
  `truncate -s 64M ${IMAGE}`,
  `mkfs.ext4 -q -O quota -E quotatype=usrquota ${IMAGE}`,
  `mount -o loop,usrquota ${IMAGE} ${DISK}`,
  `chmod 1777 ${DISK}`,
  'mkdir -p /tmp/source/below',
  'echo a > /tmp/source/a',
  'echo b > /tmp/source/below/b',
  'head -c 8M /dev/urandom > /tmp/source/large',
].join(' && ');
const REMOVE = `umount ${DISK}; rm -rf ${DISK} ${IMAGE} /tmp/source`;
/** Root has no quota. */
const AS_NOBODY = 'cd /tmp && setpriv --reuid 65534 --regid 65534 --clear-groups env HOME=/tmp';

describe('a disk quota', () => {
  const lab = useVirtualHosts();
  before(async function () {
    needsTool(this, 'setquota');
    await lab.on('h2', MAKE);
  });
  after(() => lab.restore('h2', REMOVE));

  function setQuota(kib: number): Promise<string> {
    return lab.on('h2', `setquota -u 65534 0 ${kib} 0 0 ${DISK}`);
  }

  it('ends a pipeline into a file that exceeds it, and leaves none', async () => {
    await setQuota(4096);
    const { status, stderr } = await lab.sh(
      `on h2 "${AS_NOBODY} ${ROOT}/bin/rdpipe :'cat /tmp/source/large' ':> ${DISK}/file'"`,
    );
    expect(status, stderr).to.equal(125);
    expect(stderr).to.match(/disk quota exceeded/);
    expect(await lab.on('h2', `ls -A ${DISK}`)).to.equal('lost+found\n');
  });

  it('fails only the files that exceed it, and the next copy is complete', async () => {
    await setQuota(4096);
    const copy = () => lab.sh(`on h2 '${AS_NOBODY} ${RDCP} -r /tmp/source/ ${DISK}/target/'`);
    const { status, stderr } = await copy();
    expect(status, stderr).to.equal(23);
    expect(stderr).to.match(/\/large: cannot write: disk quota exceeded/);
    expect(await lab.on('h2', `cd ${DISK}/target && cat a below/b && ls -A`)).to.equal('a\nb\na\nbelow\n');
    await setQuota(0);
    const again = await copy();
    expect(again.status, again.stderr).to.equal(0);
    await lab.on('h2', `diff -r /tmp/source ${DISK}/target`);
  });
});
