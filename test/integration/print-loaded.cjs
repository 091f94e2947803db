// SPDX-License-Identifier: Apache-2.0
// Loaded before rdpipe. At exit it writes to ./loaded:
// the files that node loaded, modules of node that few runs need, whether a script was precompiled,
// and the peak memory in KiB.
const { writeFileSync } = require('node:fs');
const { basename } = require('node:path');
const vm = require('node:vm');

const SELDOM_NEEDED = ['http', 'tls', 'zlib'];

const scripts = [];
const { Script } = vm;
vm.Script = class extends Script {
  constructor(source, options) {
    super(source, options);
    const isCompiled = options.cachedData !== undefined && !this.cachedDataRejected;
    scripts.push(`${basename(options.filename)}: ${isCompiled ? 'compiled before' : 'compiled now'}`);
  }
};
process.on('exit', () => {
  const files = Object.keys(require.cache).filter((path) => path !== __filename);
  const modules = SELDOM_NEEDED.filter((name) => process.moduleLoadList.includes(`NativeModule ${name}`));
  const all = [...files.map((path) => basename(path)), ...modules, ...scripts, process.resourceUsage().maxRSS];
  writeFileSync('loaded', `${all.join('\n')}\n`);
});
