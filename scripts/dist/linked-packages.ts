// SPDX-License-Identifier: Apache-2.0
/** The Debian packages whose code is in the native programs, according to the linker's maps. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, normalize } from 'node:path';
import { execaSync } from 'execa';
import { PROGRAMS, THIS_PLATFORM } from '../../packages/rdpipe/src/agent/locate.ts';
import { ROOT } from '../source-files.ts';
import { type Component, makePurl } from './component.ts';

/** By the name of Debian's source package; the notices also contain its copyright file. */
const LICENCES: Readonly<Record<string, string>> = {
  gcc: 'GPL-3.0-or-later WITH GCC-exception-3.1',
  glibc: 'LGPL-2.1-or-later',
  jansson: 'MIT',
  libzstd: 'BSD-3-Clause OR GPL-2.0-only',
  openssl: 'Apache-2.0',
  'rdma-core': 'GPL-2.0-only OR Linux-OpenIB',
  xxhash: 'BSD-2-Clause',
  zlib: 'Zlib',
};
/** Any version: `gcc-12`, `gcc-14-cross`. */
const GCC = /^gcc-\d+(?:-cross(?:-ports)?)?$/;

/** Packages of which a program has functions from headers, which no map shows. */
const HEADERS: readonly (readonly [name: string, programs: RegExp])[] = [
  ['libxxhash-dev', /\/rd(hop|tree)$/],
  ['libibverbs-dev', /\/dynamic\/rd(hop|stage)$/],
  ['librdmacm-dev', /\/dynamic\/rd(hop|stage)$/],
];

/** Programs of one CPU and kind, and where they were linked. */
export interface Build {
  /** Such as `linux-x86_64/static`. */
  readonly name: string;
  /** The directory of the programs. */
  readonly programs: string;
  /** The directory of the linker's maps. */
  readonly maps: string;
  /** The root directory of the Debian in which they were linked. */
  readonly system: string;
}

const ARCHITECTURES: Readonly<Record<string, string>> = { 'linux-x86_64': 'amd64', 'linux-aarch64': 'arm64' };
const NATIVE = 'build/rdpipe/native';
const FIELDS = ['Package', 'Version', 'Architecture', 'source:Package', 'Homepage'];
const COMMON_LICENCE = /\/usr\/share\/common-licenses\/([A-Za-z]+(?:-[\d.]*\d)?)/g;

export function linkedPackages(builds: readonly Build[] = checkoutBuilds()): Component[] {
  return [...new Set(builds.map(({ system }) => system))].flatMap((system) =>
    linkedPackagesOf(
      system,
      builds.filter((build) => build.system === system),
    ),
  );
}

function linkedPackagesOf(system: string, builds: readonly Build[]): Component[] {
  const files = new Map(
    builds.flatMap((build) => PROGRAMS.map((name) => [`${build.name}/${name}`, filesOf(build, name)])),
  );
  const owner = owners([...new Set([...files.values()].flat())], system);
  const used = new Map<string, string[]>();
  for (const [program, linked] of files) {
    const names = [...linked.map((file) => owner.get(file) ?? ''), ...headerPackages(program)];
    for (const name of new Set(names)) used.set(name, [...(used.get(name) ?? []), program]);
  }
  return [...used].map(([name, programs]) => describe(name, programs, system));
}

/** The results of `make` in this checkout. `cpus`: as `uname -m` prints them; by default all. */
export function checkoutBuilds(cpus?: readonly string[]): Build[] {
  const platforms = cpus?.map((cpu) => `linux-${cpu}`) ?? readdirSync(join(ROOT, NATIVE)).sort();
  const names = platforms.flatMap((platform) =>
    readdirSync(join(ROOT, NATIVE, platform))
      .sort()
      .map((kind) => `${platform}/${kind}`),
  );
  return names.map((name) => ({ name, programs: join(ROOT, NATIVE, name), maps: mapsOf(name), system: '/' }));
}

/** The directory in which `make` links the programs of this name: `linux-x86_64/static`. */
export function mapsOf(name: string): string {
  const [platform = '', kind] = name.split('/');
  const cpu = platform === THIS_PLATFORM ? '' : platform.replace('linux-', '');
  return join(ROOT, 'build', cpu, kind === 'static' ? 'static' : 'release');
}

function filesOf({ maps }: Build, program: string): string[] {
  const path = join(maps, `${program}.map`);
  if (!existsSync(path)) throw new Error(`${path} is missing (remove the program next to it, and run make)`);
  return linkedFiles(readFileSync(path, 'utf8'));
}

/** Returns archives with a member in the program, and complete objects in it; not those of this project. */
export function linkedFiles(map: string): string[] {
  const found = map.matchAll(/^(?:(\/\S+\.a)\(\S+\)|LOAD (\/\S+\.o))$/gm);
  return [...new Set([...found].map(([, archive, object]) => normalize(archive ?? object ?? '')))].sort();
}

/**
 * Returns the package of each file, with its architecture if dpkg prints one.
 * @throws for a file of no package, such as a library that was built by hand.
 */
function owners(files: readonly string[], system: string): ReadonlyMap<string, string> {
  const { stdout } = execaSync('dpkg-query', [database(system), '--search', ...files.flatMap(spellings)], {
    reject: false,
  });
  const found = new Map([...stdout.matchAll(/^(\S+): (\/.*)$/gm)].map(([, name = '', file = '']) => [file, name]));
  return new Map(files.map((file) => [file, ownerIn(found, file)]));
}

function ownerIn(found: ReadonlyMap<string, string>, file: string): string {
  const [name] = spellings(file).flatMap((path) => found.get(path) ?? []);
  if (name === undefined)
    throw new Error(`${file} is linked into a program but belongs to no Debian package (link the file of a package)`);
  return name;
}

function database(system: string): string {
  return `--admindir=${join(system, 'var/lib/dpkg')}`;
}

/** /lib is a link to /usr/lib; compilers print one, dpkg knows the other. */
function spellings(file: string): string[] {
  const path = file.replace(/^\/usr\//, '/');
  return [`/usr${path}`, path];
}

function headerPackages(program: string): string[] {
  const [platform = ''] = program.split('/');
  const architecture = ARCHITECTURES[platform];
  if (architecture === undefined) throw new Error(`${platform} has no row in ARCHITECTURES of linked-packages.ts`);
  return HEADERS.filter(([, programs]) => programs.test(program)).map(([name]) => `${name}:${architecture}`);
}

function describe(name: string, programs: readonly string[], system: string): Component {
  const format = FIELDS.map((field) => `\${${field}}\\n`).join('');
  const { stdout } = execaSync('dpkg-query', [database(system), '--show', '--showformat', format, name]);
  const [binary = '', version = '', arch = '', source = '', homepage = ''] = stdout.split('\n');
  const licence = licenceOf(source);
  const qualifiers = { arch, distro: distribution(system), upstream: source };
  const copyright = readFileSync(join(system, 'usr/share/doc', binary, 'copyright'), 'utf8');
  return {
    name: binary,
    version,
    purl: makePurl('deb', `debian/${binary}`, version, qualifiers),
    licence,
    website: homepage === '' ? `https://packages.debian.org/source/stable/${source}` : homepage,
    texts: [copyright, ...commonLicences(copyright, system)],
    uses: [],
    programs,
  };
}

/** @throws for a source package without a row: look up its licence. */
export function licenceOf(source: string): string {
  const licence = LICENCES[source.replace(GCC, 'gcc')];
  if (licence === undefined) throw new Error(`${source} has no row in LICENCES of scripts/dist/linked-packages.ts`);
  return licence;
}

/** Such as `debian-12`. */
function distribution(system: string): string {
  const release = readFileSync(join(system, 'etc/os-release'), 'utf8');
  const [id, version] = ['ID', 'VERSION_ID'].map((key) => new RegExp(`^${key}="?([^"\\n]*)`, 'm').exec(release)?.[1]);
  return `${id}-${version}`;
}

/** Returns the licence texts to which a copyright file only refers. */
function commonLicences(copyright: string, system: string): string[] {
  const names = [...new Set([...copyright.matchAll(COMMON_LICENCE)].map(([, name = '']) => name))].sort();
  return names.map((name) => readFileSync(join(system, 'usr/share/common-licenses', name), 'utf8'));
}
