// SPDX-License-Identifier: Apache-2.0
// Creates the packages in dist/: `npm run dist [-- [--cpu CPU]... [--out DIR]]`. Without --cpu, for all CPUs.
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { execa } from 'execa';
import { VERSION } from '../packages/rdpipe/src/model/version.ts';
import { sourceDateEpoch } from './dist/archive.ts';
import { DEB_ARCHITECTURES, makeDebianPackage } from './dist/debian-package.ts';
import { writeNotices } from './dist/notices.ts';
import { makeNpmPackage } from './dist/npm-package.ts';
import type { Release } from './dist/release.ts';
import { writeSbom } from './dist/sbom.ts';
import { makeTarball } from './dist/tarball.ts';

const ROOT = join(import.meta.dirname, '..');

const options = { cpu: { type: 'string', multiple: true }, out: { type: 'string' } } as const;
const { values } = parseArgs({ options });
await makeAll(values.cpu ?? Object.keys(DEB_ARCHITECTURES), emptyDirectory(values.out));

async function makeAll(cpus: readonly string[], dist: string): Promise<void> {
  await build(cpus);
  const scratch = mkdtempSync(join(tmpdir(), 'rdpipe-dist-'));
  try {
    const release: Release = {
      root: ROOT,
      dist,
      scratch,
      version: VERSION,
      epoch: sourceDateEpoch(ROOT),
      cpus,
      papers: [join(ROOT, 'LICENSE'), ...writePapers(cpus, dist)],
    };
    await makeTarball(release);
    await makeNpmPackage(release);
    for (const cpu of cpus) await makeDebianPackage(release, cpu);
  } finally {
    rmSync(scratch, { recursive: true });
  }
  writeSums(dist);
}

/** Writes the notices and the bill of materials, which are part of each package and also separate files. */
function writePapers(cpus: readonly string[], dist: string): string[] {
  const [notices, sbom] = [join(dist, 'THIRD-PARTY-NOTICES'), join(dist, 'sbom.cdx.json')];
  writeNotices(notices, cpus);
  writeSbom(sbom, cpus);
  return [notices, sbom];
}

/** dist/ is created again; another directory must be empty, so that none of the user's files are removed. */
function emptyDirectory(given: string | undefined): string {
  const directory = resolve(given ?? join(ROOT, 'dist'));
  if (given === undefined) rmSync(directory, { recursive: true, force: true });
  mkdirSync(directory, { recursive: true });
  if (readdirSync(directory).length > 0) throw new Error(`${directory} is not empty`);
  return directory;
}

/** Builds the programs for each CPU; the bundle exists already. */
async function build(cpus: readonly string[]): Promise<void> {
  for (const cpu of cpus) {
    say(`building the native programs of ${cpu}`);
    for (const kind of [[], ['STATIC=1']]) await make(`CPU=${cpu}`, ...kind, 'all');
  }
}

async function make(...words: readonly string[]): Promise<void> {
  await execa('make', ['-s', '-j2', ...words], { cwd: ROOT, stdout: 'ignore', stderr: 'inherit' });
}

function writeSums(dist: string): void {
  const names = readdirSync(dist).sort();
  const line = (name: string) =>
    `${createHash('sha256')
      .update(readFileSync(join(dist, name)))
      .digest('hex')}  ${name}\n`;
  writeFileSync(join(dist, 'SHA256SUMS'), names.map(line).join(''));
  for (const name of names) say(`${name} ${(statSync(join(dist, name)).size / 1e6).toFixed(1)} MB`);
}

function say(line: string): void {
  console.error(`dist: ${line}`);
}
