// SPDX-License-Identifier: Apache-2.0
/** Archives whose bytes depend on the names, modes and contents of files, and on the time of the commit, alone. */
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

/** Directories, and files that may be run, have it for everybody; no file may be written by others. */
const MODE = 'u=rwX,go=rX';

/** Seconds. SOURCE_DATE_EPOCH, or the time of the commit; without git, the newest date of CHANGELOG, or 0. */
export function sourceDateEpoch(root = ROOT, env: NodeJS.ProcessEnv = process.env): number {
  const given = env.SOURCE_DATE_EPOCH;
  if (given !== undefined && !/^\d{1,11}$/.test(given))
    throw new Error(`SOURCE_DATE_EPOCH is ${given}: give the seconds since 1970`);
  if (given !== undefined) return Number(given);
  if (!existsSync(join(root, '.git'))) return newestDate(readFileSync(join(root, 'CHANGELOG.md'), 'utf8'));
  return Number(execaSync('git', ['log', '-1', '--format=%ct'], { cwd: root }).stdout);
}

/** Of headings as `## 0.2.0, 2026-11-23`. */
function newestDate(changelog: string): number {
  const dates = [...changelog.matchAll(/^## .*(\d{4}-\d\d-\d\d)/gm)].map(([, date = '']) =>
    Date.parse(`${date}T00:00Z`),
  );
  return Math.max(0, ...dates) / 1000;
}

/** The contents of `directory` stand below `prefix/` in the archive. Symbolic links stay, also broken ones. */
export function makeTarGz(directory: string, file: string, prefix: string, epoch = sourceDateEpoch()): void {
  const owner = ['--owner=0', '--group=0', '--numeric-owner', `--mode=${MODE}`, `--mtime=@${epoch}`];
  // A second name of a file is a file of its own: whether it is one depends on how the directory was made.
  const form = ['--format=ustar', '--sort=name', '--hard-dereference', '--use-compress-program=gzip -n -9'];
  const names = [`--directory=${directory}`, `--transform=flags=r;s,^[.],${prefix},`, '.'];
  execaSync('tar', ['--create', `--file=${file}`, ...owner, ...form, ...names], { env: PLAIN_ENVIRONMENT });
}

const PLAIN_ENVIRONMENT = { LC_ALL: 'C', TZ: 'UTC', TAR_OPTIONS: '', GZIP: undefined, XZ_OPT: undefined };

/** `root` is installed at `/`. `control` is the text of the control file, to which the size of all files is added. */
export function makeDeb(root: string, control: string, file: string, epoch = sourceDateEpoch()): void {
  const scratch = mkdtempSync(join(tmpdir(), 'rdpipe-deb-'));
  const stage = join(scratch, 'stage');
  try {
    cpSync(root, stage, { recursive: true, verbatimSymlinks: true });
    writeControl(stage, control);
    makeUniform(stage, epoch);
    // One thread, because several cut the stream otherwise than one.
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

/** dpkg's choice; it guards against accidents only. */
function digest(path: string): string {
  return createHash('md5').update(readFileSync(path)).digest('hex');
}

/** Modes as in a tarball, and one time. The directories come last, for what is made in them changes their time. */
function makeUniform(directory: string, epoch: number): void {
  for (const path of [...everythingIn(directory).reverse(), '']) {
    const full = join(directory, path);
    const stat = lstatSync(full);
    if (!stat.isSymbolicLink()) chmodSync(full, stat.isDirectory() || stat.mode & 0o111 ? 0o755 : 0o644);
    lutimesSync(full, epoch, epoch);
  }
}

/** Sorted by bytes, each directory before what is in it. */
function everythingIn(directory: string): string[] {
  return readdirSync(directory, { recursive: true, encoding: 'utf8' }).sort();
}
