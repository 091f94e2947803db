// SPDX-License-Identifier: Apache-2.0
// The requirements of a lab on this machine.
import { existsSync } from 'node:fs';
import { arch } from 'node:process';
import { execaSync } from 'execa';
import { onPath } from '../support/needs.ts';
import { kernelIsHere } from './kernel.ts';

/** Tools and their Debian packages. */
const TOOLS: ReadonlyMap<string, string> = new Map([
  ['qemu-system-x86_64', 'qemu-system-x86'],
  ['busybox', 'busybox-static'],
  ['cpio', 'cpio'],
  ['modprobe', 'kmod'],
  ['ip', 'iproute2'],
  ['rdma', 'iproute2'],
  ['setpriv', 'util-linux'],
  ['sshd', 'openssh-server'],
  ['ssh', 'openssh-client'],
  ['rping', 'rdmacm-utils'],
  ['pgrep', 'procps'],
]);
/** Files that the hosts need from packages without a tool in TOOLS. */
const FILES: ReadonlyMap<string, string> = new Map([['/etc/libibverbs.d/rxe.driver', 'ibverbs-providers']]);
/** Tools for downloading the kernel once. */
const KERNEL_TOOLS: ReadonlyMap<string, string> = new Map([
  ['apt-get', 'apt'],
  ['dpkg-deb', 'dpkg'],
  ['depmod', 'kmod'],
  ['xz', 'xz-utils'],
]);

/** One line with the missing requirement and how to get it; undefined if nothing is missing. */
export function whatIsMissing(): string | undefined {
  if (arch !== 'x64') return `the lab's hosts are x86_64, this machine is ${arch}`;
  if (process.getuid?.() !== 0) return 'only root may make the network namespace of the lab';
  const packages = missingPackages();
  if (packages.length > 0) return `the lab needs packages: sudo apt-get install ${packages.join(' ')}`;
  if (succeeds('sh', '-c', 'ldd "$(command -v busybox)"')) return 'busybox is not static: the lab needs busybox-static';
  if (!existsSync('/dev/net/tun')) return 'no /dev/net/tun on this machine';
  if (!succeeds('unshare', '--net', 'true')) return 'network namespaces may not be made here';
  return undefined;
}

function missingPackages(): string[] {
  const tools = [...TOOLS, ...(kernelIsHere() ? [] : KERNEL_TOOLS)].filter(([tool]) => !onPath(tool));
  const files = [...FILES].filter(([file]) => !existsSync(file));
  return [...new Set([...tools, ...files].map(([, name]) => name))];
}

function succeeds(program: string, ...words: readonly string[]): boolean {
  return !execaSync(program, words, { reject: false }).failed;
}
