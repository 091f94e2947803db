// SPDX-License-Identifier: Apache-2.0
// A host with another CPU: a real sshd, whose logins enter a Debian for arm64 run by an emulator.
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
  /** Translates a path on the host to a path on this machine. */
  path(name: string): string;
}

/** Creates the host with debootstrap before the tests of the enclosing describe() (half a minute); removes it after. */
export function useArm64Host(name: string): Arm64Host {
  const directory = mkdtempSync(join(tmpdir(), 'rdpipe-test-arm64-'));
  const root = join(directory, 'root');
  const login = join(directory, 'login');
  before(function () {
    this.timeout(MAKE_MAX_MS);
    needsRoot(this);
    needsTool(this, 'debootstrap', 'unshare');
    chmodSync(directory, 0o755);
    // Unpacked packages are enough: configuring them would take minutes in the emulator.
    execaSync('debootstrap', ['--arch=arm64', '--foreign', '--variant=minbase', RELEASE, root, mirror()]);
    for (const file of ['passwd', 'group'])
      cpSync(join(root, 'usr/share/base-passwd', `${file}.master`), join(root, 'etc', file));
    // In a container, debootstrap makes /proc a symbolic link to this machine's, which dangles inside the root.
    rmSync(join(root, 'proc'), { recursive: true });
    mkdirSync(join(root, 'proc'));
    writeFileSync(login, loginScript(root), { mode: 0o755 });
  });
  after(() => rmSync(directory, { recursive: true, force: true }));
  return { spec: { name, server: [`ForceCommand ${login}`] }, path: (inside) => join(root, inside) };
}

/** The script's mounts are private to the session. */
function loginScript(root: string): string {
  return `#!/bin/sh
if [ "$1" = "" ]; then exec unshare --mount "$0" mounted; fi
mount -t proc proc '${root}/proc' && mount --rbind /dev '${root}/dev' &&
  exec chroot '${root}' /usr/bin/env HOME=/root PATH=/usr/bin:/bin:/usr/sbin:/sbin /bin/sh -c "$SSH_ORIGINAL_COMMAND"
`;
}
