// SPDX-License-Identifier: Apache-2.0
// How many tests passed, failed and were skipped, with what the failed ones said.

export const NOTHING = { passed: 0, failed: 0, skipped: 0, failures: [] };

export function one(outcome) {
  return { ...NOTHING, [outcome]: 1 };
}

/** `failure`: its `words`; for a test of mocha also `file` and `title`. */
export function failed(failure) {
  return { ...one('failed'), failures: [failure] };
}

export function add(left, right) {
  return {
    passed: left.passed + right.passed,
    failed: left.failed + right.failed,
    skipped: left.skipped + right.skipped,
    failures: [...left.failures, ...right.failures],
  };
}

export function inWords({ passed, failed, skipped }) {
  return `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`;
}
