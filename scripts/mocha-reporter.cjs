// SPDX-License-Identifier: Apache-2.0
// A mocha reporter: the spec output, and counts and failures as JSON in the file $MOCHA_COUNTS.
const { writeFileSync } = require('node:fs');
const { createRequire } = require('node:module');
const { relative } = require('node:path');

/** The mocha that is running: on an older node it is not the project's. */
const mocha = createRequire(process.argv[1])('mocha');

const { EVENT_RUN_END, EVENT_TEST_FAIL } = mocha.Runner.constants;

module.exports = class CountingSpec extends mocha.reporters.Spec {
  constructor(runner, options) {
    super(runner, options);
    const failures = [];
    runner.on(EVENT_TEST_FAIL, (test, error) => failures.push(failureOf(test, error)));
    runner.once(EVENT_RUN_END, () => writeCounts(this.stats, failures));
  }
};

/** For a hook, the title of its describe is used, because mocha cannot run a single hook. */
function failureOf(test, error) {
  const title = test.type === 'hook' ? test.parent.fullTitle() : test.fullTitle();
  const file = test.file === undefined ? undefined : relative('.', test.file);
  return { words: `${test.fullTitle()}: ${error.message}`, file, title };
}

function writeCounts({ passes, failures, pending }, failed) {
  const file = process.env.MOCHA_COUNTS;
  if (file)
    writeFileSync(file, JSON.stringify({ passed: passes, failed: failures, skipped: pending, failures: failed }));
}
