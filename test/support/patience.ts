// SPDX-License-Identifier: Apache-2.0
// The limits of time that tests have: they are for hangs, so no machine is too slow for them.

/** $RDPIPE_TEST_PATIENCE multiplies every limit. */
const FACTOR = Number(process.env.RDPIPE_TEST_PATIENCE || 1);

/** Milliseconds that only a hang takes: what a fast machine needs a hundredth of. */
export function patience(ms: number): number {
  return ms * FACTOR;
}

/** Until an event comes. */
export const EVENT_MS = patience(90_000);

/** Until a command line of a test ends by itself. */
export const COMMAND_MS = patience(180_000);

/** For a whole test, as in .mocharc.cjs: more than a command line has, whose words help. */
export const TEST_MS = patience(300_000);
