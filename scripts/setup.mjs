// SPDX-License-Identifier: Apache-2.0
// Sets up what a checkout lacks and builds it: `node scripts/setup.mjs [--bench] [--test [--full]]`. Plain node: nothing is
// installed yet. With everything in place it only looks. `--bench` also asks for the peers of the benchmark, `--test` for
// these and what the test suites use, `--full` for what only the full ones do.
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const NODE_LEAST = [20, 19];
const PNPM_VERSION = '10.34.8';
const PNPM = join(root, '.tools/node_modules/.bin/pnpm');
const BUILD_PACKAGES = [
  'build-essential',
  'pkg-config',
  'libssl-dev',
  'libxxhash-dev',
  'libzstd-dev',
  'libjansson-dev',
  'libibverbs-dev',
  'librdmacm-dev',
  'openssh-client',
];
const BENCH_PACKAGES = ['iperf3', 'mbuffer', 'netcat-openbsd', 'openssh-server', 'socat', 'zstd'];
const TEST_PACKAGES = [
  ...BENCH_PACKAGES,
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
  'libfuse3-dev',
  'man-db',
  'nftables',
  'perftest',
  'procps',
  'python3-minimal',
  'qemu-system-x86',
  'rdma-core',
  'rdmacm-utils',
  'rsync',
  'sudo',
  'tcsh',
  'tmux',
  'xz-utils',
  'zfs-fuse',
  'zsh',
];

const FULL_PACKAGES = ['clang', 'clang-tidy', 'libclang-rt-dev', 'valgrind'];

setUp(wantedPackages(process.argv));

function wantedPackages(words) {
  const bench = words.includes('--bench') ? BENCH_PACKAGES : [];
  const test = words.includes('--test') ? TEST_PACKAGES : [];
  const full = words.includes('--full') ? FULL_PACKAGES : [];
  return [...BUILD_PACKAGES, ...bench, ...test, ...full];
}

function setUp(packages) {
  checkNode();
  installPackages(packages);
  installPnpm();
  installDependencies();
  must('npm', ['run', '--silent', 'build']);
}

function checkNode() {
  const [major, minor] = process.versions.node.split('.').map(Number);
  if (major > NODE_LEAST[0] || (major === NODE_LEAST[0] && minor >= NODE_LEAST[1])) return;
  fail(`node ${NODE_LEAST.join('.')} or later is needed, this is ${process.versions.node}`);
}

function installPackages(wanted) {
  if (!existsSync('/usr/bin/apt-get')) return warnOfOtherSystem(wanted);
  const missing = missingPackages(wanted);
  if (missing.length === 0) return;
  const asRoot = process.getuid() === 0 ? [] : ['sudo', '-n'];
  console.log(`setup: installing ${missing.join(' ')}`);
  const installed =
    succeeds([...asRoot, 'apt-get', '-qq', 'update']) &&
    succeeds([...asRoot, ...aptInstall(missing)]) &&
    missingPackages(wanted).length === 0;
  if (!installed)
    fail(`system packages are missing; install them, then try again:\n  sudo apt-get install ${missing.join(' ')}`);
}

/** Other systems name their packages otherwise: the build says what it lacks. */
function warnOfOtherSystem(wanted) {
  const tools = ['cc', 'make', 'pkg-config', 'ssh'].filter((tool) => !onPath(tool));
  if (tools.length === 0) return;
  fail(`no apt-get here, and ${tools.join(', ')} missing; on Debian these packages are used: ${wanted.join(' ')}`);
}

function missingPackages(wanted) {
  const query = spawnSync('dpkg-query', ['-W', '-f', '${Package} ${db:Status-Abbrev}\n', ...wanted], {
    encoding: 'utf8',
  });
  const installed = new Set(
    query.stdout
      .split('\n')
      .filter((line) => line.includes(' ii'))
      .map((line) => line.split(' ')[0]),
  );
  return wanted.filter((name) => !installed.has(name));
}

/** Without a question, without what is only recommended. */
function aptInstall(packages) {
  const quiet = ['env', 'DEBIAN_FRONTEND=noninteractive', 'apt-get', '-qq', '-y', '-o', 'Dpkg::Use-Pty=0'];
  return [...quiet, 'install', '--no-install-recommends', ...packages];
}

function installPnpm() {
  if (pnpmVersion() === PNPM_VERSION) return;
  must('npm', ['install', '--silent', '--no-fund', '--no-audit', '--prefix', '.tools', `pnpm@${PNPM_VERSION}`]);
}

function pnpmVersion() {
  const manifest = join(root, '.tools/node_modules/pnpm/package.json');
  return existsSync(manifest) ? JSON.parse(readFileSync(manifest, 'utf8')).version : undefined;
}

/** pnpm keeps a copy of the lock file that it installed from. */
function installDependencies() {
  const installed = join(root, 'node_modules/.pnpm/lock.yaml');
  const wanted = readFileSync(join(root, 'pnpm-lock.yaml'));
  if (existsSync(installed) && readFileSync(installed).equals(wanted)) return;
  must(PNPM, ['install', '--frozen-lockfile', '--prod=false', '--config.confirm-modules-purge=false']);
}

function onPath(tool) {
  return process.env.PATH.split(':').some((directory) => existsSync(join(directory, tool)));
}

function succeeds([command, ...args]) {
  return spawnSync(command, args, { cwd: root, stdio: ['ignore', 'inherit', 'inherit'] }).status === 0;
}

function must(command, args) {
  if (!succeeds([command, ...args])) fail(`${[command, ...args].join(' ')} failed`);
}

function fail(message) {
  console.error(`setup: ${message}`);
  process.exit(1);
}
