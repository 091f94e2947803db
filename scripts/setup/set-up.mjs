// SPDX-License-Identifier: Apache-2.0
// The steps from a checkout to programs that run: system packages, pnpm, dependencies, builds.
// Plain node, without execa: nothing is installed yet. If nothing is missing, it only builds. Packages are added by
// `--check` (for `npm run check`), `--bench` (other tools of the benchmark), `--test` (these, and those of the test
// suites; `--parts=unit,copy` leaves out those that only other parts use), `--full` (those of the full suites) and
// `--cross` (for `npm run dist`: compiler and libraries of the other CPU, whose architecture is added to the system,
// and programs that make packages).
// `--test` and `--cross` (for packages) install an older node in .tools: the bundle also has compiled code for it.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { OLDEST_NODE } from '../oldest-node.mjs';
import { ROOT, say, step } from './step.mjs';
import { installPackages } from './system-packages.mjs';

const PNPM_VERSION = '10.34.8';
const PNPM = join(ROOT, '.tools/node_modules/.bin/pnpm');
/** An unreachable registry is reported after about 20 s, not 3 min. */
const RETRIES = ['--fetch-retries=1', '--fetch-retry-mintimeout=5000', '--fetch-timeout=60000'];

/** Sets up and builds; `words` are the options. Ends this process if a step fails. */
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

/** Installs `versions`, a map from name to version, unless these are installed. */
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

/** Installs dependencies unless they are current: pnpm keeps a copy of the lock file that it installed from. */
async function installDependencies() {
  const installed = join(ROOT, 'node_modules/.pnpm/lock.yaml');
  const wanted = readFileSync(join(ROOT, 'pnpm-lock.yaml'));
  if (existsSync(installed) && readFileSync(installed).equals(wanted)) return;
  const install = ['install', '--frozen-lockfile', '--prod=false', '--config.confirm-modules-purge=false', ...RETRIES];
  await step('installing dependencies in node_modules', [PNPM, ...install]);
}

/** Runs a build. Drops its standard output, which has only names of files; always shows the warnings after it. */
async function build(what, ...script) {
  const run = 'npm run --silent "$@" >/dev/null';
  process.stderr.write(await step(what, ['sh', '-c', run, 'sh', ...script]));
}
