// SPDX-License-Identifier: Apache-2.0
// Sets up what a checkout lacks and builds it: `node scripts/setup.mjs [--bench] [--test [--full]] [--cross]`.
// This file is in words that Node 12 reads, the oldest that a supported distribution has: it names the one to install.
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
