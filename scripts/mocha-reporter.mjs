// SPDX-License-Identifier: Apache-2.0
// Mocha's spec output, and the counts as JSON in the file that $MOCHA_COUNTS names.
import { writeFileSync } from 'node:fs';
import mocha from 'mocha';

export default class CountingSpec extends mocha.reporters.Spec {
  constructor(runner, options) {
    super(runner, options);
    runner.once(mocha.Runner.constants.EVENT_RUN_END, () => writeCounts(this.stats));
  }
}

function writeCounts({ passes, failures, pending }) {
  const file = process.env.MOCHA_COUNTS;
  if (file) writeFileSync(file, JSON.stringify({ passed: passes, failed: failures, skipped: pending }));
}
