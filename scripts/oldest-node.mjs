// SPDX-License-Identifier: Apache-2.0
// The oldest node that the packages support: Debian 12's. setup.mjs --test installs it, with a mocha for it.
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const directory = '.tools/oldest-node';
/**
 * npm's package `node` installs this one with a script; this package contains the program itself, without scripts.
 */
const name = `node-linux-${process.arch}`;
const modules = join(dirname(fileURLToPath(import.meta.url)), '..', directory, 'node_modules');

/** `directory` is relative to the checkout, other paths are absolute. The project's mocha needs a newer node. */
export const OLDEST_NODE = {
  directory,
  packages: { [name]: '18.20.8', mocha: '11.7.5' },
  program: join(modules, name, 'bin/node'),
  mocha: join(modules, 'mocha/bin/mocha.js'),
};
