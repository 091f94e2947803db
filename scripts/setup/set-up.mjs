// SPDX-License-Identifier: Apache-2.0
// The steps from a checkout to programs that run: system packages, pnpm, dependencies, builds.
// Plain node, without execa: nothing is installed yet. With everything in place it only builds. `--bench` also asks for
// the peers of the benchmark, `--test` for these and what the test suites use, `--full` for what only the full ones do,
// `--cross` for the compiler and the libraries of the other CPU, of which the system then has the architecture.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT, say, step } from './step.mjs';
import { installPackages } from './system-packages.mjs';

const PNPM_VERSION = '10.34.8';
const PNPM = join(ROOT, '.tools/node_modules/.bin/pnpm');
/** One that cannot be reached is known after some 20 s, not 3 min. */
const RETRIES = ['--fetch-retries=1', '--fetch-retry-mintimeout=5000', '--fetch-timeout=60000'];

export async function setUp(words) {
  const started = Date.now();
  await installPackages(words);
  await installPnpm();
  await installDependencies();
  await build('building the native programs', 'build:native');
  await build('building the program', 'build:bundle');
  const next =
    process.env.npm_lifecycle_event === 'build' ? "; now bin/rdpipe runs, and 'sudo make install' installs it" : '';
  say(`done in ${Math.round((Date.now() - started) / 1000)} s${next}`);
}

async function installPnpm() {
  const manifest = join(ROOT, '.tools/node_modules/pnpm/package.json');
  if (existsSync(manifest) && JSON.parse(readFileSync(manifest, 'utf8')).version === PNPM_VERSION) return;
  const install = ['install', '--no-fund', '--no-audit', ...RETRIES, '--prefix', '.tools', `pnpm@${PNPM_VERSION}`];
  await step(`installing pnpm ${PNPM_VERSION} in .tools`, ['npm', ...install]);
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
async function build(what, script) {
  process.stderr.write(await step(what, ['sh', '-c', `npm run --silent ${script} >/dev/null`]));
}
