// SPDX-License-Identifier: Apache-2.0
// The steps from a checkout to programs that run: system packages, pnpm, dependencies, builds.
// Plain node, without execa: nothing is installed yet. With everything in place it only builds. `--bench` also asks for
// the peers of the benchmark, `--test` for these and what the test suites use, `--parts=unit,copy` with it for what
// these parts use alone, `--full` for what only the full ones do, `--cross` for the compiler and the libraries of the
// other CPU, of which the system then has the architecture.
// With `--test` and `--cross` (for packages) an older node is put into .tools: the bundle has compiled code for it too.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { OLDEST_NODE } from '../oldest-node.mjs';
import { ROOT, say, step } from './step.mjs';
import { installPackages } from './system-packages.mjs';

const PNPM_VERSION = '10.34.8';
const PNPM = join(ROOT, '.tools/node_modules/.bin/pnpm');
/** One that cannot be reached is known after some 20 s, not 3 min. */
const RETRIES = ['--fetch-retries=1', '--fetch-retry-mintimeout=5000', '--fetch-timeout=60000'];

export async function setUp(words) {
  const started = Date.now();
  await installPackages(words);
  const olderNode = words.includes('--test') || words.includes('--cross');
  await installTools('.tools', { pnpm: PNPM_VERSION });
  if (olderNode) await installTools(OLDEST_NODE.directory, OLDEST_NODE.packages);
  await installDependencies();
  await build('building the native programs', 'build:native');
  await build('building the program', 'build:bundle', ...(olderNode ? ['--', OLDEST_NODE.program] : []));
  const next =
    process.env.npm_lifecycle_event === 'build' ? "; now bin/rdpipe runs, and 'sudo make install' installs it" : '';
  say(`done in ${Math.round((Date.now() - started) / 1000)} s${next}`);
}

/** Versions by name. Once installed, they stay. */
async function installTools(directory, versions) {
  const tools = Object.entries(versions);
  if (tools.every(([name, version]) => installedVersion(directory, name) === version)) return;
  const wanted = tools.map(([name, version]) => `${name}@${version}`);
  const install = ['install', '--no-fund', '--no-audit', ...RETRIES, '--prefix', directory, ...wanted];
  await step(`installing ${wanted.join(' and ')} in ${directory}`, ['npm', ...install]);
}

function installedVersion(directory, name) {
  const manifest = join(ROOT, directory, 'node_modules', name, 'package.json');
  return existsSync(manifest) ? JSON.parse(readFileSync(manifest, 'utf8')).version.replace(/^v/, '') : undefined;
}

/** pnpm keeps a copy of the lock file that it installed from. */
async function installDependencies() {
  const installed = join(ROOT, 'node_modules/.pnpm/lock.yaml');
  const wanted = readFileSync(join(ROOT, 'pnpm-lock.yaml'));
  if (existsSync(installed) && readFileSync(installed).equals(wanted)) return;
  const install = ['install', '--frozen-lockfile', '--prod=false', '--config.confirm-modules-purge=false', ...RETRIES];
  await step('installing dependencies in node_modules', [PNPM, ...install]);
}

/** Of its two outputs the first only has names of files; the second has warnings, which are shown always. */
async function build(what, ...script) {
  const run = 'npm run --silent "$@" >/dev/null';
  process.stderr.write(await step(what, ['sh', '-c', run, 'sh', ...script]));
}
