// SPDX-License-Identifier: Apache-2.0
// Writes V8's compiled code of build/rdpipe/program.cjs next to it, for the version of node that runs this.
// `node --hash-seed=1 --random-seed=1 scripts/compile-program.cjs` gives the same bytes each time, in any checkout.
const { writeFileSync } = require('node:fs');
const { join } = require('node:path');
const v8 = require('node:v8');
const vm = require('node:vm');

const directory = join(__dirname, '../build/rdpipe');
const version = process.versions.v8.split('-')[0];

/** Replaces the class that would run the program: compiles all its functions, called or not, and runs none. */
vm.Script = class extends vm.Script {
  constructor(source, options) {
    setFlags('--no-lazy', '--no-flush-bytecode');
    super(source, { ...options, filename: 'program.cjs' });
    // V8 accepts compiled code only if it was made with the same flags.
    setFlags('--lazy', '--flush-bytecode', '--hash-seed=0', '--random-seed=0');
    writeFileSync(join(directory, `program-${process.arch}-${version}.cache`), this.createCachedData());
    process.exit();
  }
};
require(join(directory, 'rdpipe.cjs'));

function setFlags(...flags) {
  for (const flag of flags) v8.setFlagsFromString(flag);
}
