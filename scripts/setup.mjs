// SPDX-License-Identifier: Apache-2.0
// Sets up what a checkout lacks and builds it: `node scripts/setup.mjs [--bench] [--test [--full]] [--cross]`.
// Plain node, without execa: nothing is installed yet. With everything in place it only builds. `--bench` also asks for
// the peers of the benchmark, `--test` for these and what the test suites use, `--full` for what only the full ones do,
// `--cross` for the compiler and the libraries of the other CPU, of which the system then has the architecture.
// It prints a line for each step. The output of a step is shown if it fails; of the build, the warnings always.
import { spawn, spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { existsSync, fstatSync, openSync, readFileSync, readSync, unlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const NODE_LEAST = [20, 19];
const PNPM_VERSION = '10.34.8';
const PNPM = join(root, '.tools/node_modules/.bin/pnpm');
const LIBRARY_PACKAGES = [
  'libssl-dev',
  'libxxhash-dev',
  'libzstd-dev',
  'libjansson-dev',
  'libibverbs-dev',
  'librdmacm-dev',
];
const BUILD_PACKAGES = ['build-essential', 'pkg-config', ...LIBRARY_PACKAGES, 'openssh-client'];
/** The other CPU, by the architecture of this one. */
const CROSS = {
  amd64: { architecture: 'arm64', compiler: 'gcc-aarch64-linux-gnu' },
  arm64: { architecture: 'amd64', compiler: 'gcc-x86-64-linux-gnu' },
};
/** By the names that pkg-config knows; where packages are named otherwise they are looked for. */
const BUILD_LIBRARIES = ['libssl', 'libcrypto', 'libxxhash', 'libzstd', 'jansson'];
const BENCH_PACKAGES = ['iperf3', 'mbuffer', 'netcat-openbsd', 'openssh-server', 'rsync', 'socat', 'zstd'];
/** Only measured against. */
const COPIERS = ['fpart', 'rclone'];
const TEST_PACKAGES = [
  ...BENCH_PACKAGES,
  'acl',
  'attr',
  'bash-completion',
  'bsdutils',
  'busybox-static',
  'chromium',
  'clang-format',
  'cpio',
  'faketime',
  'ffmpeg',
  'fish',
  'fuse3',
  'ibverbs-providers',
  'ibverbs-utils',
  'iproute2',
  'kmod',
  'less',
  'libfuse3-dev',
  'man-db',
  'nftables',
  'perftest',
  'procps',
  'python3-minimal',
  'qemu-system-x86',
  'rdma-core',
  'rdmacm-utils',
  'sudo',
  'tcsh',
  'tmux',
  'xz-utils',
  'zfs-fuse',
  'zsh',
];

const FULL_PACKAGES = [
  ...COPIERS,
  'clang',
  'clang-tidy',
  'debootstrap',
  'libclang-rt-dev',
  'qemu-user-static',
  'valgrind',
];

const wantsCross = process.argv.includes('--cross');
await setUp([...wantedPackages(process.argv), ...(wantsCross ? crossPackages() : [])]);

function wantedPackages(words) {
  const bench = words.includes('--bench') ? [...BENCH_PACKAGES, ...COPIERS] : [];
  const test = words.includes('--test') ? TEST_PACKAGES : [];
  const full = words.includes('--full') ? FULL_PACKAGES : [];
  return [...BUILD_PACKAGES, ...bench, ...test, ...full];
}

function crossPackages() {
  const { architecture, compiler } =
    CROSS[printed('--print-architecture')] ?? fail('--cross knows Debian on amd64 and arm64 only');
  const libraries = LIBRARY_PACKAGES.map((name) => `${name}:${architecture}`);
  return [compiler, `libc6-dev-${architecture}-cross`, ...libraries];
}

async function setUp(packages) {
  const started = Date.now();
  checkNode();
  await installPackages(packages);
  await installPnpm();
  await installDependencies();
  await build('native programs', 'build:native');
  await build('the program', 'build:bundle');
  say(`done in ${Math.round((Date.now() - started) / 1000)} s`);
}

function checkNode() {
  const [major, minor] = process.versions.node.split('.').map(Number);
  if (major > NODE_LEAST[0] || (major === NODE_LEAST[0] && minor >= NODE_LEAST[1])) return;
  fail(`node ${NODE_LEAST.join('.')} or later is needed, this is ${process.versions.node}`);
}

async function installPackages(wanted) {
  if (!existsSync('/usr/bin/apt-get')) return lookForTools(wanted);
  const missing = missingPackages(wanted);
  if (missing.length === 0) return;
  const names = missing.join(' ');
  const foreign = missingArchitecture(missing);
  const asRoot = process.getuid() === 0 ? [] : ['sudo', '-n'];
  if (!succeeds([...asRoot, 'true'])) {
    const before = foreign ? `sudo dpkg --add-architecture ${foreign} && sudo apt-get update && ` : '';
    fail(`system packages are missing; install them, then try again: ${before}sudo apt-get install ${names}`);
  }
  if (foreign) {
    say(`adding the architecture ${foreign} to this system's package manager`);
    await must([...asRoot, 'dpkg', '--add-architecture', foreign]);
  }
  say(`installing system packages: ${names}`);
  await must([...asRoot, 'apt-get', '-qq', 'update']);
  await must([...asRoot, ...aptInstall(missing)]);
}

/** Other systems name their packages otherwise. */
function lookForTools(packages) {
  const tools = ['cc', 'make', 'pkg-config', 'ssh'].filter((tool) => !onPath(tool));
  const libraries = BUILD_LIBRARIES.filter((library) => !succeeds(['pkg-config', '--exists', library]));
  const missing = [...tools, ...libraries];
  if (missing.length === 0) return;
  fail(`no apt-get here, and ${missing.join(', ')} missing; on Debian these packages are used: ${packages.join(' ')}`);
}

/** A name without an architecture is this system's, whatever others are installed. */
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

/** The architecture that some of these packages need and dpkg does not know yet. */
function missingArchitecture(packages) {
  const architecture = packages.find((name) => name.includes(':'))?.split(':')[1];
  const known = printed('--print-foreign-architectures').split('\n');
  return known.includes(architecture) ? undefined : architecture;
}

/** The answer of dpkg; empty where there is none. */
function printed(question) {
  return spawnSync('dpkg', [question], { encoding: 'utf8' }).stdout?.trim() ?? '';
}

/** Without a question, without what is only recommended. */
function aptInstall(packages) {
  const quiet = ['env', 'DEBIAN_FRONTEND=noninteractive', 'apt-get', '-qq', '-y', '-o', 'Dpkg::Use-Pty=0'];
  return [...quiet, 'install', '--no-install-recommends', ...packages];
}

async function installPnpm() {
  if (pnpmVersion() === PNPM_VERSION) return;
  say(`installing pnpm ${PNPM_VERSION} in .tools`);
  await must(['npm', 'install', '--no-fund', '--no-audit', '--prefix', '.tools', `pnpm@${PNPM_VERSION}`]);
}

function pnpmVersion() {
  const manifest = join(root, '.tools/node_modules/pnpm/package.json');
  return existsSync(manifest) ? JSON.parse(readFileSync(manifest, 'utf8')).version : undefined;
}

/** pnpm keeps a copy of the lock file that it installed from. */
async function installDependencies() {
  const installed = join(root, 'node_modules/.pnpm/lock.yaml');
  const wanted = readFileSync(join(root, 'pnpm-lock.yaml'));
  if (existsSync(installed) && readFileSync(installed).equals(wanted)) return;
  say('installing dependencies in node_modules');
  await must([PNPM, 'install', '--frozen-lockfile', '--prod=false', '--config.confirm-modules-purge=false']);
}

/** Of its two outputs the first only has names of files. */
async function build(what, script) {
  say(`building ${what}`);
  process.stderr.write(await must(['npm', 'run', '--silent', script], 'ignore'));
}

function onPath(tool) {
  return process.env.PATH.split(':').some((directory) => existsSync(join(directory, tool)));
}

function succeeds([command, ...args]) {
  return spawnSync(command, args, { stdio: 'ignore' }).status === 0;
}

/**
 * Returns what it printed. On a terminal the seconds are shown meanwhile. The log is a file: a server that a package
 * starts may keep it open.
 */
async function must([command, ...args], stdout = undefined) {
  const log = openLog();
  const child = spawn(command, args, { cwd: root, stdio: ['ignore', stdout ?? log, log] });
  const stopClock = startClock();
  const status = await new Promise((resolve) => {
    child.once('error', (error) => resolve(error.message));
    child.once('exit', (code, signal) => resolve(signal ?? code));
  });
  stopClock();
  if (status === 0) return textOf(log);
  process.stderr.write(textOf(log));
  fail(`${[command, ...args].join(' ')} failed (${status}): see above, mend that, and try again`);
}

/** It has no name, so that none is left behind. */
function openLog() {
  const path = join(tmpdir(), `rdpipe-setup-${randomUUID()}`);
  const log = openSync(path, 'ax+', 0o600);
  unlinkSync(path);
  return log;
}

function textOf(log) {
  const text = Buffer.alloc(fstatSync(log).size);
  readSync(log, text, 0, text.length, 0);
  return text;
}

function startClock() {
  if (!process.stderr.isTTY) return () => {};
  const started = Date.now();
  const timer = setInterval(() => {
    process.stderr.write(`\r  ${Math.round((Date.now() - started) / 1000)} s`);
  }, 1000);
  return () => {
    clearInterval(timer);
    process.stderr.write('\r\x1b[K');
  };
}

function say(line) {
  console.error(`setup: ${line}`);
}

function fail(message) {
  say(message);
  process.exit(1);
}
