// SPDX-License-Identifier: Apache-2.0
// The options of every mocha of this project. A test's limit of time is for hangs: test/support/patience.ts.
module.exports = {
  extension: ['ts'],
  'node-option': ['import=tsx', 'no-experimental-require-module'],
  timeout: 300_000 * Number(process.env.RDPIPE_TEST_PATIENCE || 1),
};
