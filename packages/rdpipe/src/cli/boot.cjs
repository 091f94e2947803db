// SPDX-License-Identifier: Apache-2.0
// Runs the bundled program with the code that V8 compiled at build time, unless this node is too old.
// The compiled code, for some versions of V8, is next to the program; without code for its V8, node compiles it again.
// The bundler writes this file for Node 12, so that old versions reach the error message.
const { readFileSync, writeSync } = require('node:fs');
const { join } = require('node:path');
const { Script } = require('node:vm');

const [major, minor] = process.versions.node.split('.').map(Number);
if (major < 18 || (major === 18 && minor < 19)) {
  const program = process.env.RDPIPE_PROGRAM || 'rdpipe';
  const found = `node ${process.versions.node} is too old (${process.execPath})`;
  writeSync(2, `${program}: ${found}: install Node 18.19 or later (RDPIPE_NODE names another)\n`);
  process.exit(125);
}

const filename = join(__dirname, 'program.cjs');
const [v8] = process.versions.v8.split('-');
// The bundler writes only ASCII.
const source = readFileSync(filename, 'latin1');
const script = new Script(`(function (require, module, exports, __filename, __dirname) {${source}\n})`, {
  filename,
  cachedData: readIfThere(join(__dirname, `program-${process.arch}-${v8}.cache`)),
});
script.runInThisContext()(require, module, exports, filename, __dirname);

function readIfThere(path) {
  try {
    return readFileSync(path);
  } catch {
    return undefined;
  }
}
