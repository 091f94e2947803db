// SPDX-License-Identifier: Apache-2.0
/** Archives whose bytes depend only on names, modes and contents of files, and on the time of the commit. */
import { createHash } from 'node:crypto';
import {
  chmodSync,
  cpSync,
  existsSync,
  lstatSync,
  lutimesSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execaSync } from 'execa';
import { ROOT } from '../source-files.ts';

/** All users may read and, if the owner may, execute or enter; only the owner may write. */
const MODE = 'u=rwX,go=rX';

/** Returns seconds: SOURCE_DATE_EPOCH, or the time of the commit; without git, the newest date of CHANGELOG, or 0. */
export function sourceDateEpoch(root = ROOT, env: NodeJS.ProcessEnv = process.env): number {
  const given = env.SOURCE_DATE_EPOCH;
  if (given !== undefined && !/^\d{1,11}$/.test(given))
    throw new Error(`SOURCE_DATE_EPOCH is ${given} (give the seconds since 1970)`);
  if (given !== undefined) return Number(given);
  if (!existsSync(join(root, '.git'))) return newestDate(readFileSync(join(root, 'CHANGELOG.md'), 'utf8'));
  return Number(execaSync('git', ['log', '-1', '--format=%ct'], { cwd: root }).stdout);
}

/** Returns the newest date in headings such as `## [0.2.0] - 2026-11-23`. */
function newestDate(changelog: string): number {
  const dates = [...changelog.matchAll(/^## .*(\d{4}-\d\d-\d\d)/gm)].map(([, date = '']) =>
    Date.parse(`${date}T00:00Z`),
  );
  return Math.max(0, ...dates) / 1000;
}

/** Archives the contents of `directory` below `prefix/`. Symbolic links are kept, also broken ones. */
export function makeTarGz(directory: string, file: string, prefix: string, epoch = sourceDateEpoch()): void {
  const owner = ['--owner=0', '--group=0', '--numeric-owner', `--mode=${MODE}`, `--mtime=@${epoch}`];
  // Hard links become separate files: their presence depends on how the directory was created.
  const form = ['--format=ustar', '--sort=name', '--hard-dereference', '--use-compress-program=gzip -n -9'];
  const names = [`--directory=${directory}`, `--transform=flags=r;s,^[.],${prefix},`, '.'];
  execaSync('tar', ['--create', `--file=${file}`, ...owner, ...form, ...names], { env: PLAIN_ENVIRONMENT });
}

export const PLAIN_ENVIRONMENT = { LC_ALL: 'C', TZ: 'UTC', TAR_OPTIONS: '', GZIP: undefined, XZ_OPT: undefined };

/** Packs `root`, which is installed at `/`. `control` is the text of the control file, without the size. */
export function makeDeb(root: string, control: string, file: string, epoch = sourceDateEpoch()): void {
  const scratch = mkdtempSync(join(tmpdir(), 'rdpipe-deb-'));
  const stage = join(scratch, 'stage');
  try {
    cpSync(root, stage, { recursive: true, verbatimSymlinks: true });
    writeControl(stage, control);
    makeUniform(stage, epoch);
    // One thread, because several divide the stream differently.
    const form = ['--root-owner-group', '-Zxz', '--threads-max=1'];
    const env = { ...PLAIN_ENVIRONMENT, SOURCE_DATE_EPOCH: String(epoch) };
    execaSync('dpkg-deb', [...form, '--build', stage, file], { env });
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

function writeControl(stage: string, control: string): void {
  const paths = everythingIn(stage);
  const files = paths.filter((path) => lstatSync(join(stage, path)).isFile());
  const sums = files.map((path) => `${digest(join(stage, path))}  ${path}\n`);
  const kibibytes = paths.map((path) =>
    files.includes(path) ? Math.ceil(lstatSync(join(stage, path)).size / 1024) : 1,
  );
  const size = kibibytes.reduce((sum, each) => sum + each, 0);
  mkdirSync(join(stage, 'DEBIAN'));
  writeFileSync(join(stage, 'DEBIAN/control'), `${control.trimEnd()}\nInstalled-Size: ${size}\n`);
  writeFileSync(join(stage, 'DEBIAN/md5sums'), sums.join(''));
}

/** Returns the digest that dpkg uses, which protects only against accidental damage. */
function digest(path: string): string {
  return createHash('md5').update(readFileSync(path)).digest('hex');
}

/** Sets modes as in a tarball, and one time; directories last, because creating files in them changes their time. */
export function makeUniform(directory: string, epoch: number): void {
  for (const path of [...everythingIn(directory).reverse(), '']) {
    const full = join(directory, path);
    const stat = lstatSync(full);
    if (!stat.isSymbolicLink()) chmodSync(full, stat.isDirectory() || stat.mode & 0o111 ? 0o755 : 0o644);
    lutimesSync(full, epoch, epoch);
  }
}

/** Returns all paths, sorted by bytes, each directory before its contents. */
export function everythingIn(directory: string): string[] {
  return readdirSync(directory, { recursive: true, encoding: 'utf8' }).sort();
}
