// SPDX-License-Identifier: Apache-2.0
// Installs what a checkout lacks, and builds: `node scripts/setup.mjs [--check] [--bench] [--test [--full]] [--cross]`.
// Must run on Node 12, the oldest in a supported distribution, to report the version that is needed.
const LEAST = [20, 19];

const [major, minor] = process.versions.node.split('.').map(Number);
if (major > LEAST[0] || (major === LEAST[0] && minor >= LEAST[1])) {
  import('./setup/set-up.mjs').then(({ setUp }) => setUp(process.argv.slice(2)));
} else {
  const least = LEAST.join('.');
  console.error(
    `setup: node ${least} or later is needed to build, this is ${process.versions.node}; packages of rdpipe run on 18.19`,
  );
  process.exitCode = 1;
}
