// SPDX-License-Identifier: Apache-2.0
// Debian packages for builds, benchmarks and tests, and the installation of missing ones.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fail, say, step } from './step.mjs';

const STATIC_LIBRARY_PACKAGES = [
  'libssl-dev',
  'libxxhash-dev',
  'libzstd-dev',
  'libjansson-dev',
  'zlib1g-dev', // libcrypto.a needs it since Debian 13
];
const LIBRARY_PACKAGES = [...STATIC_LIBRARY_PACKAGES, 'libibverbs-dev', 'librdmacm-dev'];
const BUILD_PACKAGES = ['build-essential', 'pkg-config', ...LIBRARY_PACKAGES, 'openssh-client'];
/** The other CPU, by the architecture of this one. */
const CROSS = {
  amd64: { architecture: 'arm64', compiler: 'gcc-aarch64-linux-gnu' },
  arm64: { architecture: 'amd64', compiler: 'gcc-x86-64-linux-gnu' },
};
/** pkg-config's names, used to find libraries on systems with other package names. */
const BUILD_LIBRARIES = ['libssl', 'libcrypto', 'libxxhash', 'libzstd', 'jansson'];
/** Libraries whose archives the static programs need; of xxhash only the header is used. */
const STATIC_LIBRARIES = BUILD_LIBRARIES.filter((name) => name !== 'libxxhash');
const BENCH_PACKAGES = ['iperf3', 'mbuffer', 'netcat-openbsd', 'openssh-server', 'rsync', 'socat', 'zstd'];
/** Tools to compare with: for copies, and for one file to many hosts. */
const COPIERS = ['fpart', 'rclone'];
const FAN_OUT = ['clustershell', 'taktuk', 'udpcast', 'uftp'];
/** Programs that `npm run check` runs. */
const CHECK_PACKAGES = ['clang-format', 'git'];
const TEST_PACKAGES = [
  ...BENCH_PACKAGES,
  ...CHECK_PACKAGES,
  'acl',
  'attr',
  'bash-completion',
  'bsdutils',
  'busybox-static',
  'clustershell',
  'e2fsprogs',
  'faketime',
  'fish',
  'fuse3',
  'ibverbs-providers',
  'ibverbs-utils',
  'iproute2',
  'less',
  'libfuse3-dev',
  'man-db',
  'munge',
  'nftables',
  'podman',
  'procps',
  'python3-minimal',
  'runc',
  'slurm-client',
  'slurmctld',
  'slurmd',
  'sudo',
  'tcsh',
  'tmux',
  'xz-utils',
  'zfs-fuse',
  'zsh',
];

/** Programs that make the packages of other systems. */
const DIST_PACKAGES = ['rpm'];

/** Packages that only one part of the suite uses. */
const PACKAGES_OF_PART = {
  check: DIST_PACKAGES,
  integration: ['ansible-core', 'borgbackup', 'chromium', 'ffmpeg', 'parallel', 'restic', 'sanoid'],
  lab: ['cpio', 'kmod', 'perftest', 'qemu-system-x86', 'rdma-core', 'rdmacm-utils'],
};

const FULL_PACKAGES = [
  ...COPIERS,
  ...FAN_OUT,
  'clang',
  'clang-tidy',
  'debootstrap',
  'libclang-rt-dev',
  'postgresql',
  'qemu-user-static',
  'quota',
  'redis-server',
  'redis-tools',
  'valgrind',
];

/** Installs missing packages, or prints their names in one line and ends this process. */
export async function installPackages(words) {
  const wanted = wantedPackages(words);
  if (!existsSync('/usr/bin/apt-get')) return lookForTools(wanted);
  await installByApt(wanted);
  const archives = missingArchives();
  if (archives.length > 0)
    fail(`${archives.join(', ')} missing, which static programs need; install the packages that contain them`);
}

async function installByApt(wanted) {
  const missing = offered(missingPackages(wanted));
  if (missing.length === 0) return;
  const names = missing.join(' ');
  const foreign = missingArchitecture(missing);
  const asRoot = rootPrefix();
  if (asRoot === undefined) {
    const sudo = onPath('sudo') ? 'sudo ' : '';
    const before = foreign ? `${sudo}dpkg --add-architecture ${foreign} && ${sudo}apt-get update && ` : '';
    const who = sudo === '' ? ' as root' : '';
    fail(`packages are missing; install them${who}, then try again: ${before}${sudo}apt-get install ${names}`);
  }
  const add = foreign ? [[...asRoot, 'dpkg', '--add-architecture', foreign]] : [];
  const update = [...add, [...asRoot, 'apt-get', '-qq', 'update']];
  const install = (packages) => [...asRoot, ...aptInstall(packages)];
  say(
    `packages are missing${foreign ? ` (some for ${foreign}, which is added to dpkg's architectures)` : ''}: ${names}`,
  );
  if (missing.every(isForBuild))
    return step(`installing ${missing.length} packages by apt-get`, ...update, install(missing));
  await step('reading the lists of apt-get', ...update);
  const packages = offered(missing);
  if (packages.length > 0) await step(`installing ${packages.length} packages by apt-get`, install(packages));
}

function isForBuild(name) {
  return BUILD_PACKAGES.includes(name) || name.includes(':');
}

/** `packages` without those for tests that this system lacks, as Ubuntu lacks chromium. Before a first update: all. */
export function offered(packages) {
  if (output(['apt-get', 'indextargets', '--format', '$(FILENAME)', 'Created-By: Packages']) === '') return packages;
  const absent = packages.filter((name) => !isForBuild(name) && !hasCandidate(name));
  if (absent.length > 0) say(`not available on this system, so some tests cannot run: ${absent.join(' ')}`);
  return packages.filter((name) => !absent.includes(name));
}

function hasCandidate(name) {
  return /Candidate: [^(]/.test(output(['env', 'LC_ALL=C', 'apt-cache', 'policy', name]));
}

/** The packages that the options of the set-up need. */
export function wantedPackages(words) {
  const check = words.includes('--check') ? CHECK_PACKAGES : [];
  const bench = words.includes('--bench') ? [...BENCH_PACKAGES, ...COPIERS, ...FAN_OUT] : [];
  const test = words.includes('--test') ? [...TEST_PACKAGES, ...packagesOfParts(words)] : [];
  const full = words.includes('--full') ? FULL_PACKAGES : [];
  const cross = words.includes('--cross') ? [...crossPackages(), ...DIST_PACKAGES] : [];
  return [...BUILD_PACKAGES, ...check, ...bench, ...test, ...full, ...cross];
}

/** The packages of all parts, or only of those in `--parts=unit,copy`. */
function packagesOfParts(words) {
  const parts = words
    .find((word) => word.startsWith('--parts='))
    ?.slice('--parts='.length)
    .split(',');
  return Object.entries(PACKAGES_OF_PART).flatMap(([part, packages]) =>
    (parts?.includes(part) ?? true) ? packages : [],
  );
}

/** Those for programs of the other CPU, and for the Debian in which the static ones of packages are built. */
function crossPackages() {
  return [...crossPackagesWith(LIBRARY_PACKAGES), 'debootstrap'];
}

function crossPackagesWith(libraries) {
  const { architecture, compiler } = otherCpu();
  const foreign = libraries.map((name) => `${name}:${architecture}`);
  return [compiler, `libc6-dev-${architecture}-cross`, `libc6-dev:${architecture}`, ...foreign];
}

/** For a build of the static programs of both CPUs. */
export function staticPackages() {
  return [
    'gcc',
    'libc6-dev',
    'make',
    'pkg-config',
    ...STATIC_LIBRARY_PACKAGES,
    ...crossPackagesWith(STATIC_LIBRARY_PACKAGES),
  ];
}

/** Debian's name of the other CPU. */
export function foreignArchitecture() {
  return otherCpu().architecture;
}

function otherCpu() {
  return CROSS[printed('--print-architecture')] ?? fail('--cross works only on Debian on amd64 or arm64');
}

/**
 * The words before a command that run it as root; undefined if that is not possible. Never asks for a password: users
 * do not expect that of a build, and an unattended build would wait forever.
 */
export function rootPrefix() {
  if (process.getuid() === 0) return [];
  return succeeds(['sudo', '-n', 'true']) ? ['sudo', '-n'] : undefined;
}

/** Looks for tools and libraries instead of packages, whose names are different on other systems. */
function lookForTools(packages) {
  const tools = ['cc', 'make', 'pkg-config', 'ssh'].filter((tool) => !onPath(tool));
  const libraries = BUILD_LIBRARIES.filter((library) => !succeeds(['pkg-config', '--exists', library]));
  const archives = missingArchives();
  const missing = [...tools, ...libraries, ...archives];
  if (missing.length === 0) return;
  const manager = ['dnf', 'zypper'].find(onPath);
  const advice = manager
    ? rpmAdvice(manager, [...tools, ...libraries], archives)
    : `the packages of Debian are: ${packages.join(' ')}`;
  fail(`missing, and there is no apt-get: ${missing.join(', ')}; ${advice}`);
}

/** Advice for systems with rpm, whose packages are found by what they contain. They lack most static libraries. */
export function rpmAdvice(manager, names, archives) {
  if (archives.length > 0)
    return 'build on Debian or Ubuntu, and install the .rpm of npm run dist here (docs/install.md)';
  const files = { cc: '/usr/bin/gcc', make: '/usr/bin/make', 'pkg-config': '/usr/bin/pkg-config', ssh: '/usr/bin/ssh' };
  const words = names.map((name) => files[name] ?? `'pkgconfig(${name})'`);
  return `install them, then try again: sudo ${manager} install ${words.join(' ')}`;
}

/**
 * Archives that the static link needs and the compiler does not find, such as `libz.a`. pkg-config also names the
 * libraries that libraries need.
 */
export function missingArchives() {
  const words = output(['pkg-config', '--static', '--libs', ...STATIC_LIBRARIES]).split(/\s+/);
  const names = words.filter((word) => word.startsWith('-l')).map((word) => `lib${word.slice(2)}.a`);
  return [...new Set(names)].filter((name) => !output(['cc', `-print-file-name=${name}`]).includes('/'));
}

/** The packages that are not installed. A name without an architecture means this system's own architecture. */
function missingPackages(wanted) {
  const query = spawnSync('dpkg-query', ['-W', '-f', '${Package}:${Architecture} ${db:Status-Abbrev}\n', ...wanted], {
    encoding: 'utf8',
  });
  const installed = new Set(
    query.stdout
      .split('\n')
      .filter((line) => line.includes(' ii'))
      .map((line) => line.split(' ')[0]),
  );
  const own = printed('--print-architecture');
  const names = (name) => (name.includes(':') ? [name] : [`${name}:${own}`, `${name}:all`]);
  return wanted.filter((name) => !names(name).some((full) => installed.has(full)));
}

/** The architecture that some packages need and that dpkg does not have yet; undefined: none. */
function missingArchitecture(packages) {
  const architecture = packages.find((name) => name.includes(':'))?.split(':')[1];
  const known = printed('--print-foreign-architectures').split('\n');
  return known.includes(architecture) ? undefined : architecture;
}

/** dpkg's answer; empty if there is none. */
function printed(question) {
  return output(['dpkg', question]);
}

/** A command's output; empty if it does not start. */
function output([command, ...args]) {
  return spawnSync(command, args, { encoding: 'utf8' }).stdout?.trim() ?? '';
}

/** Installs without questions, and without recommended packages. */
function aptInstall(packages) {
  const quiet = ['env', 'DEBIAN_FRONTEND=noninteractive', 'apt-get', '-qq', '-y', '-o', 'Dpkg::Use-Pty=0'];
  return [...quiet, 'install', '--no-install-recommends', ...packages];
}

function onPath(tool) {
  return process.env.PATH.split(':').some((directory) => existsSync(join(directory, tool)));
}

function succeeds([command, ...args]) {
  return spawnSync(command, args, { stdio: 'ignore' }).status === 0;
}
