// SPDX-License-Identifier: Apache-2.0
// Archives whose bytes depend on nothing but the files in them.
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { execa, execaSync } from 'execa';

/** The time of the last commit, in seconds: SOURCE_DATE_EPOCH where it is set. */
export function sourceDateEpoch(root: string): number {
  const given = process.env.SOURCE_DATE_EPOCH;
  const { stdout } =
    given === undefined ? execaSync('git', ['log', '-1', '--format=%ct'], { cwd: root }) : { stdout: given };
  return Number(stdout);
}

/** Packs a folder's contents below `prefix`/. */
export async function makeTarGz(folder: string, file: string, prefix: string, epoch: number): Promise<void> {
  const plain = `${file}.tar`;
  await execa('tar', [
    '--create',
    '--file',
    plain,
    '--sort=name',
    '--owner=0',
    '--group=0',
    '--numeric-owner',
    '--mode=u+rwX,go+rX,go-w',
    `--mtime=@${epoch}`,
    '--format=gnu',
    `--transform=s,^\\.,${prefix},S`,
    '-C',
    folder,
    '.',
  ]);
  await execa('gzip', ['-9n', plain]);
  await execa('mv', [`${plain}.gz`, file]);
}

/** Packs a tree with its control file. */
export async function makeDeb(folder: string, control: string, file: string, epoch: number): Promise<void> {
  mkdirSync(join(folder, 'DEBIAN'));
  writeFileSync(join(folder, 'DEBIAN/control'), control);
  await execa('chmod', ['-R', 'u+rwX,go+rX,go-w', folder]);
  await execa('dpkg-deb', ['--root-owner-group', '-Zxz', '--build', folder, file], {
    env: { SOURCE_DATE_EPOCH: `${epoch}` },
    stdout: 'ignore',
  });
}
