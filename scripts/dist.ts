// SPDX-License-Identifier: Apache-2.0
// Creates the packages in dist/: `npm run dist [-- [--cpu CPU]... [--out DIR]]`. Without --cpu, for all CPUs.
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { execa } from 'execa';
import { VERSION } from '../packages/rdpipe/src/model/version.ts';
import { sourceDateEpoch } from './dist/archive.ts';
import { DEB_ARCHITECTURES, makeDebianPackage } from './dist/debian-package.ts';
import { DebianRoot } from './dist/debian-root.ts';
import { type Build, mapsOf } from './dist/linked-packages.ts';
import { writeNotices } from './dist/notices.ts';
import { makeNpmPackage } from './dist/npm-package.ts';
import type { Release } from './dist/release.ts';
import { makeRpmPackage } from './dist/rpm-package.ts';
import { writeSbom } from './dist/sbom.ts';
import { makeTarball } from './dist/tarball.ts';

const ROOT = join(import.meta.dirname, '..');
/** In it, the programs and what is built in another Debian: the checkout's own builds stay as they are. */
const BUILT = 'build/dist';

const options = { cpu: { type: 'string', multiple: true }, out: { type: 'string' } } as const;
const { values } = parseArgs({ options });
await makeAll(values.cpu ?? Object.keys(DEB_ARCHITECTURES), emptyDirectory(values.out));

async function makeAll(cpus: readonly string[], dist: string): Promise<void> {
  rmSync(join(ROOT, BUILT), { recursive: true, force: true });
  const dynamic = await buildDynamic(cpus);
  say('making a Debian 13 for the static programs');
  const debian = await DebianRoot.make();
  try {
    const builds = [...dynamic, ...(await buildStatic(cpus, debian))];
    await makePackages(cpus, dist, writePapers(builds, dist));
  } finally {
    await debian.remove();
  }
  writeSums(dist);
}

async function makePackages(cpus: readonly string[], dist: string, papers: readonly string[]): Promise<void> {
  const scratch = mkdtempSync(join(tmpdir(), 'rdpipe-dist-'));
  try {
    const release: Release = {
      root: ROOT,
      native: join(BUILT, 'native'),
      dist,
      scratch,
      version: VERSION,
      epoch: sourceDateEpoch(ROOT),
      cpus,
      papers: [join(ROOT, 'LICENSE'), ...papers],
    };
    await makeTarball(release);
    await makeNpmPackage(release);
    for (const cpu of cpus) await makeDebianPackage(release, cpu);
    for (const cpu of cpus) await makeRpmPackage(release, cpu);
  } finally {
    rmSync(scratch, { recursive: true });
  }
}

/** Writes the notices and the bill of materials, which are part of each package and also separate files. */
function writePapers(builds: readonly Build[], dist: string): string[] {
  const [notices, sbom] = [join(dist, 'THIRD-PARTY-NOTICES'), join(dist, 'sbom.cdx.json')];
  writeNotices(notices, builds);
  writeSbom(sbom, builds);
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

/** Builds on this machine, for its C library and later ones; the bundle exists already. */
async function buildDynamic(cpus: readonly string[]): Promise<Build[]> {
  const builds = cpus.map((cpu) =>
    buildOf(`linux-${cpu}/dynamic`, { maps: mapsOf(`linux-${cpu}/dynamic`), system: '/' }),
  );
  for (const [index, { name, programs }] of builds.entries()) {
    say(`building ${name}`);
    const words = ['-s', '-j2', `CPU=${cpus[index]}`, `DEPLOY=${relative(ROOT, programs)}`, 'all'];
    await execa('make', words, { cwd: ROOT, stdout: 'ignore', stderr: 'inherit' });
  }
  return builds;
}

async function buildStatic(cpus: readonly string[], debian: DebianRoot): Promise<Build[]> {
  const builds = cpus.map((cpu) =>
    buildOf(`linux-${cpu}/static`, { maps: join(ROOT, BUILT, cpu), system: debian.directory }),
  );
  for (const [index, { name, programs, maps }] of builds.entries()) {
    say(`building ${name} in that Debian`);
    const places = [`OUT=${relative(ROOT, maps)}`, `DEPLOY=${relative(ROOT, programs)}`];
    await debian.run(ROOT, 'make', '-s', '-j2', `CPU=${cpus[index]}`, 'STATIC=1', ...places, 'all');
  }
  return builds;
}

function buildOf(name: string, where: Pick<Build, 'maps' | 'system'>): Build {
  return { name, programs: join(ROOT, BUILT, 'native', name), ...where };
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
