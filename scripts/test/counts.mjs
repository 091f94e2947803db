// SPDX-License-Identifier: Apache-2.0
// Counts of passed, failed and skipped tests, with the messages of the failed ones.

export const NOTHING = { passed: 0, failed: 0, skipped: 0, failures: [] };

/** The counts of one test; `outcome`: `passed`, `failed` or `skipped`. */
export function one(outcome) {
  return { ...NOTHING, [outcome]: 1 };
}

/** The counts of one failed test. `failure` has `words`; for a mocha test also `file` and `title`. */
export function failed(failure) {
  return { ...one('failed'), failures: [failure] };
}

/** The sum of two counts, with all failures. */
export function add(left, right) {
  return {
    passed: left.passed + right.passed,
    failed: left.failed + right.failed,
    skipped: left.skipped + right.skipped,
    failures: [...left.failures, ...right.failures],
  };
}

/** `12 passed, 1 failed, 2 skipped`. */
export function inWords({ passed, failed, skipped }) {
  return `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`;
}
