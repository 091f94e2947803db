// SPDX-License-Identifier: Apache-2.0
// Saves V8's compiled code when the program that compiled-code.mjs runs ends well.

const { writeFileSync } = require('node:fs');
const vm = require('node:vm');

const { Script } = vm;
vm.Script = class extends Script {
  constructor(source, options) {
    super(source, options);
    process.on('exit', (status) => {
      if (status === 0) writeFileSync(options.filename.replace(/\.cjs$/, '.cache'), this.createCachedData());
    });
  }
};
