// SPDX-License-Identifier: Apache-2.0
// A host of another CPU: a login of a real sshd that ends in a bare Debian for arm64, whose programs are emulated.
import { chmodSync, cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execaSync } from 'execa';
import { mirror, RELEASE } from './bare-debian.ts';
import { needsRoot, needsTool } from './needs.ts';
import { patience } from './patience.ts';
import type { HostSpec } from './sshd.ts';

const MAKE_MAX_MS = patience(900_000);

export interface Arm64Host {
  readonly spec: HostSpec;
  /** The path here of one there. */
  path(name: string): string;
}

/** Makes it before the tests of the describe() it stands in, by debootstrap, in half a minute; removes it after. */
export function useArm64Host(name: string): Arm64Host {
  const directory = mkdtempSync(join(tmpdir(), 'rdpipe-test-arm64-'));
  const root = join(directory, 'root');
  const login = join(directory, 'login');
  before(function () {
    this.timeout(MAKE_MAX_MS);
    needsRoot(this);
    needsTool(this, 'debootstrap', 'unshare');
    chmodSync(directory, 0o755);
    // Its packages are unpacked, which is all that is needed: to configure them takes minutes of emulation.
    execaSync('debootstrap', ['--arch=arm64', '--foreign', '--variant=minbase', RELEASE, root, mirror()]);
    for (const file of ['passwd', 'group'])
      cpSync(join(root, 'usr/share/base-passwd', `${file}.master`), join(root, 'etc', file));
    // In a container debootstrap makes it a link to this machine's, which leads nowhere from inside.
    rmSync(join(root, 'proc'), { recursive: true });
    mkdirSync(join(root, 'proc'));
    writeFileSync(login, loginScript(root), { mode: 0o755 });
  });
  after(() => rmSync(directory, { recursive: true, force: true }));
  return { spec: { name, server: [`ForceCommand ${login}`] }, path: (inside) => join(root, inside) };
}

/** Its mounts are the session's own. */
function loginScript(root: string): string {
  return `#!/bin/sh
if [ "$1" = "" ]; then exec unshare --mount "$0" mounted; fi
mount -t proc proc '${root}/proc' && mount --rbind /dev '${root}/dev' &&
  exec chroot '${root}' /usr/bin/env HOME=/root PATH=/usr/bin:/bin:/usr/sbin:/sbin /bin/sh -c "$SSH_ORIGINAL_COMMAND"
`;
}
