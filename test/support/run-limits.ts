// SPDX-License-Identifier: Apache-2.0
// Time limits for rdpipe and its programs in tests of faults and attacks.
import { spawnSync } from 'node:child_process';

/** In seconds: --stall-timeout, --lease, which must be longer, and --connect-timeout. */
export interface RunLimits {
  readonly stall: number;
  readonly lease: number;
  readonly connect: number;
}

/** Milliseconds of a limit that must not expire in a test, even on a slow machine. */
export const NEVER_MS = 1_000_000;

/** Limits that must not expire. They are longer than tests wait for an event, so no test passes because of them. */
export const NEVER: RunLimits = { stall: NEVER_MS / 1000, lease: NEVER_MS / 1000 + 100, connect: NEVER_MS / 1000 };

/** Start time of node on a machine that is fast enough for limits of a few seconds. */
const FAST_MS = 150;
/** The largest factor for slower machines. */
const SLOWEST = 6;

let measured: number | undefined;

/**
 * A limit that a test waits for, in seconds, scaled by the current speed of the machine: events that must happen within
 * it, such as four keepalives, then have as much margin as on a fast machine.
 */
export function expiring(fast: number): number {
  measured ??= Math.min(SLOWEST, Math.max(1, startOfNodeMs() / FAST_MS));
  return Math.ceil(fast * measured);
}

/** Limits for a test in which the lease expires; the stall timeout must be shorter. */
export function leaseSoon(): RunLimits {
  const stall = expiring(3);
  return { ...NEVER, stall, lease: stall + expiring(1) };
}

/** Limits for a test in which a hop ends because it is silent, while the hosts live. */
export function stallSoon(): RunLimits {
  return { ...NEVER, stall: expiring(3) };
}

/** Limits for a test in which a silent host of a chain is lost: after 1/15 of the stall timeout, at least 4 s. */
export function chainStallSoon(): RunLimits {
  return { ...NEVER, stall: 15 * expiring(4), connect: expiring(10) };
}

/** Limits for a test in which a host does not answer. */
export function connectSoon(): RunLimits {
  return { ...NEVER, connect: expiring(4) };
}

export function limitWords({ stall, lease, connect }: RunLimits): string {
  return `--stall-timeout ${stall} --lease ${lease} --connect-timeout ${connect}`;
}

function startOfNodeMs(): number {
  const begun = performance.now();
  spawnSync(process.execPath, ['-e', '0']);
  return performance.now() - begun;
}
