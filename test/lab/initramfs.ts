// SPDX-License-Identifier: Apache-2.0
// Creates the initramfs of a host: busybox, modules to mount this machine's /, guest scripts, keys.
import { appendFileSync, copyFileSync, cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { basename, join } from 'node:path';
import { execaSync } from 'execa';
import type { Kernel } from './kernel.ts';

const DIRECTORIES = ['bin', 'proc', 'sys', 'dev', 'new', 'rw', 'lower', 'modules', 'guest'];
const APPLETS = ['sh', 'mount', 'umount', 'insmod', 'mkdir', 'cat', 'cp', 'echo', 'switch_root'];
// ib_uverbs before rdma_ucm: the connection manager then informs programs of the removal of a device before verbs
// wait for them. crc32_generic: rxe gets it from the crypto layer. bridge and sch_netem: for tests that add interfaces
// or disturb the network; loop and ext4: for tests of copies, because this kernel's tmpfs has no user attributes;
// quota_v2: ext4 then enforces quotas.
const MODULES = [
  'virtio_pci',
  'virtio_net',
  '9pnet_virtio',
  '9p',
  'overlay',
  'crc32_generic',
  'ib_uverbs',
  'rdma_ucm',
  'rdma_rxe',
];
const MODULES_FOR_TESTS = ['bridge', 'sch_netem', 'loop', 'ext4', 'quota_v2'];
/** The host's keys, and the key with which root of each host logs in to the others. */
const KEYS = ['host_key', 'host_key.pub', 'authorized_keys', 'key'];

/** Writes `initramfs.cpio` into the directory, which contains the keys. */
export function makeInitramfs(kernel: Kernel, directory: string): string {
  const file = join(directory, 'initramfs.cpio');
  const root = mkdtempSync(join(directory, 'initramfs-'));
  for (const name of DIRECTORIES) mkdirSync(join(root, name));
  copyFileSync(execaSync('sh', ['-c', 'command -v busybox']).stdout, join(root, 'bin/busybox'));
  for (const applet of APPLETS) symlinkSync('busybox', join(root, 'bin', applet));
  addModules(kernel, join(root, 'modules'));
  cpSync(join(import.meta.dirname, 'guest/init'), join(root, 'init'));
  cpSync(join(import.meta.dirname, 'guest/start'), join(root, 'guest/start'));
  for (const name of KEYS) copyFileSync(join(directory, name), join(root, 'guest', name));
  execaSync('sh', ['-c', 'find . | cpio --quiet -o -H newc >"$0"', file], { cwd: root });
  rmSync(root, { recursive: true });
  return file;
}

/** Adds the uncompressed modules, and a list of them in the order of loading. */
function addModules(kernel: Kernel, directory: string): void {
  const words = ['-d', kernel.tree, '-S', kernel.release, '--show-depends', '-a', ...MODULES, ...MODULES_FOR_TESTS];
  const files = execaSync('modprobe', words, { lines: true })
    .stdout.filter((line) => line.startsWith('insmod '))
    .map((line) => line.split(' ')[1] ?? '');
  for (const file of new Set(files)) {
    const name = basename(file).replace(/\.xz$/, '');
    if (file.endsWith('.xz')) execaSync('sh', ['-c', 'xz -dc "$0" >"$1"', file, join(directory, name)]);
    else copyFileSync(file, join(directory, name));
    appendFileSync(join(directory, 'list'), `${name}\n`);
  }
}
