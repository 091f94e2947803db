// SPDX-License-Identifier: Apache-2.0
// Runs a real busybox container with podman, in its own storage, without a registry. Needs root.
import { copyFileSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { execa } from 'execa';
import { eventually } from './eventually.ts';
import { visibleTexts } from './processes.ts';

/** Programs that a test needs to call `startContainer`. */
export const PODMAN_TOOLS = ['podman', 'runc', 'busybox'] as const;

export interface Container {
  /** Directory for PATH with a `podman` that uses the container's storage. */
  readonly bin: string;
  close(): Promise<void>;
}

/**
 * The container shares network and pid namespaces with this machine, so tests see its processes. `environment` is that
 * of programs that are started in it later. All its files are below `directory`.
 * @throws podman's error if this machine cannot run containers.
 */
export async function startContainer(
  directory: string,
  name: string,
  environment: Readonly<Record<string, string>> = {},
): Promise<Container> {
  const bin = join(directory, 'bin');
  mkdirSync(bin, { recursive: true });
  const places = {
    root: join(directory, 'root'),
    runroot: join(directory, 'runroot'),
    tmpdir: join(directory, 'tmpdir'),
  };
  const here = '--storage-driver=vfs --cgroup-manager=cgroupfs --events-backend=file --runtime=runc';
  const options = Object.entries(places).map(([option, path]) => `--${option}=${path}`);
  const program = `exec /usr/bin/podman ${options.join(' ')} ${here} "$@"`;
  writeFileSync(join(bin, 'podman'), `#!/bin/sh\n${program}\n`, { mode: 0o755 });
  const podman = (...words: readonly string[]) => execa(join(bin, 'podman'), words, { stdin: 'ignore' });
  const image = await writeImage(directory);
  await podman('import', image, 'busybox');
  const variables = Object.entries(environment).map(([key, value]) => `--env=${key}=${value}`);
  // podman's defaults are higher than a restricted root may set.
  const limits = ['--ulimit=nofile=1024:1024', '--ulimit=nproc=1000:1000'];
  const place = ['--network=host', '--pid=host', ...limits, ...variables];
  const sleeping = ['env', '-i', '/bin/sleep', '86400'];
  // conmon keeps podman's output open, so it must not be a pipe.
  await execa(join(bin, 'podman'), ['run', '-d', `--name=${name}`, ...place, 'busybox', ...sleeping], {
    stdio: 'ignore',
  });
  return {
    bin,
    async close() {
      await podman('rm', '-f', '-t', '0', name);
      // conmon starts a podman for cleanup, even after `rm`; it writes files until it ends.
      await eventually(() => {
        if (visibleTexts().some((text) => text.includes(places.root)))
          throw new Error(`a podman still uses ${directory}`);
      });
    },
  };
}

/** Needs the static busybox: the image has no libraries. */
async function writeImage(directory: string): Promise<string> {
  const root = join(directory, 'image');
  for (const name of ['bin', 'root', 'tmp', 'var/tmp', 'proc', 'sys', 'dev', 'etc']) {
    mkdirSync(join(root, name), { recursive: true });
  }
  const { stdout: busybox } = await execa('sh', ['-c', 'command -v busybox']);
  copyFileSync(busybox, join(root, 'bin/busybox'));
  const { stdout: applets } = await execa('busybox', ['--list']);
  for (const applet of applets.split('\n').filter((text) => text !== 'busybox')) {
    symlinkSync('busybox', join(root, 'bin', applet));
  }
  const image = join(directory, 'image.tar');
  await execa('tar', ['-C', root, '-cf', image, '.']);
  return image;
}
