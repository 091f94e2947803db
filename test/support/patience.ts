// SPDX-License-Identifier: Apache-2.0
// Time limits of tests: they only detect hangs, so they are long enough for every machine.

/** $RDPIPE_TEST_PATIENCE multiplies every limit. */
const FACTOR = Number(process.env.RDPIPE_TEST_PATIENCE || 1);

/** A time limit that only a hang exceeds; `ms`: about a hundred times the milliseconds of a fast machine. */
export function patience(ms: number): number {
  return ms * FACTOR;
}

/** Time limit for an event. */
export const EVENT_MS = patience(90_000);

/** Time limit for a command line of a test to end on its own. */
export const COMMAND_MS = patience(180_000);

/** Time limit of a test, as in .mocharc.cjs: longer than that of a command line, whose output explains more. */
export const TEST_MS = patience(300_000);
