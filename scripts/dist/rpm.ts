// SPDX-License-Identifier: Apache-2.0
/** RPM packages whose bytes depend only on names, modes and contents of files, and on the time of the commit. */
import { cpSync, lstatSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { execaSync } from 'execa';
import { everythingIn, makeUniform, PLAIN_ENVIRONMENT } from './archive.ts';

/** Compressed as Debian's package is; the digests of files are SHA-256, because RHEL in FIPS mode refuses MD5. */
const FORM = ['_binary_payload w6.xzdio', '_binary_filedigest_algorithm 8'];
/** Neither the machine nor the time of the build is in the package. */
const REPRODUCIBLE = [
  '_buildhost reproducible',
  'use_source_date_epoch_as_buildtime 1',
  'clamp_mtime_to_source_date_epoch 1',
  'source_date_epoch_from_changelog 0',
];
/** Files are packed as they are: not stripped, not compressed, without links to their build IDs. */
const UNCHANGED = ['__os_install_post %{nil}', 'debug_package %{nil}', '_build_id_links none'];
/** Each system has them. Others, such as those of shells that are not installed, are removed with the package. */
const OF_THE_SYSTEM = [
  'usr',
  'usr/bin',
  'usr/lib',
  'usr/share',
  'usr/share/doc',
  'usr/share/man',
  'usr/share/man/man1',
];
const LICENCE = /\/(LICENSE|THIRD-PARTY-NOTICES)$/;

/**
 * Packs `root`, which is installed at `/`, for machines with this CPU. `preamble` is the start of the spec file, with
 * the tags and the description. Dependencies are only those of the preamble.
 */
export function makeRpm(root: string, cpu: string, preamble: string, file: string, epoch: number): void {
  const scratch = mkdtempSync(join(tmpdir(), 'rdpipe-rpm-'));
  const stage = join(scratch, 'stage');
  const spec = join(scratch, 'package.spec');
  try {
    cpSync(root, stage, { recursive: true, verbatimSymlinks: true });
    makeUniform(stage, epoch);
    const install = `%install\ncp -a ${stage}/. %{buildroot}`;
    writeFileSync(spec, [preamble.trimEnd(), install, fileList(stage), ''].join('\n\n'));
    const places = [`_topdir ${scratch}`, `_rpmdir ${dirname(file)}`, `_build_name_fmt ${basename(file)}`];
    const words = [...places, ...FORM, ...REPRODUCIBLE, ...UNCHANGED].flatMap((macro) => ['--define', macro]);
    // Without the macros of the user.
    const env = { ...PLAIN_ENVIRONMENT, HOME: scratch, SOURCE_DATE_EPOCH: String(epoch) };
    execaSync('rpmbuild', ['-bb', '--quiet', '--target', `${cpu}-linux`, ...words, spec], { env });
  } finally {
    rmSync(scratch, { recursive: true, force: true });
  }
}

/** Returns the text of %files. */
function fileList(stage: string): string {
  const owned = everythingIn(stage).filter((path) => !OF_THE_SYSTEM.includes(path));
  const lines = owned.map((path) => `${attributesOf(stage, path)}"/${path}"`);
  return ['%files', '%defattr(-,root,root,-)', ...lines].join('\n');
}

function attributesOf(stage: string, path: string): string {
  if (lstatSync(join(stage, path)).isDirectory()) return '%dir ';
  if (LICENCE.test(path)) return '%license ';
  return path.startsWith('usr/share/doc/') ? '%doc ' : '';
}
