// SPDX-License-Identifier: Apache-2.0
// Runs the bundled program by the code that V8 compiled at build time, which lies beside it.
// There is some for a few versions of V8; where there is none for its own, node compiles the program itself.
const { readFileSync } = require('node:fs');
const { join } = require('node:path');
const { Script } = require('node:vm');

const filename = join(__dirname, 'program.cjs');
const [v8] = process.versions.v8.split('-');
// The bundler writes ASCII alone.
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
