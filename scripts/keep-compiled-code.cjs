// SPDX-License-Identifier: Apache-2.0
// Loaded before boot.cjs by compiled-code.mjs: when the program ends well, writes what V8 compiled of it beside it.
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
