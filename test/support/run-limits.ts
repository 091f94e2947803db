// SPDX-License-Identifier: Apache-2.0
// The time limits that tests of faults and attacks give to rdpipe and its programs.
import { spawnSync } from 'node:child_process';

/** Seconds: --stall-timeout, --lease, which has to be longer, and --connect-timeout. */
export interface RunLimits {
  readonly stall: number;
  readonly lease: number;
  readonly connect: number;
}

/** Milliseconds that a limit has which is not to expire in a test, whatever the machine is slow at. */
export const NEVER_MS = 1_000_000;

/** None is to expire. Longer than tests wait for an event: one that has to end by another limit fails, then. */
export const NEVER: RunLimits = { stall: NEVER_MS / 1000, lease: NEVER_MS / 1000 + 100, connect: NEVER_MS / 1000 };

/** The start of a node on a machine that is fast enough for limits of some seconds. */
const FAST_MS = 150;
/** A slower machine counts as one of this. */
const SLOWEST = 6;

let measured: number | undefined;

/**
 * A limit that a test waits for: longer where the machine is slow now, so that what is not to expire, such as a life
 * sign that comes four times in it, has as much room as on a fast one.
 */
export function expiring(fast: number): number {
  measured ??= Math.min(SLOWEST, Math.max(1, startOfNodeMs() / FAST_MS));
  return Math.ceil(fast * measured);
}

/** The lease is to expire, and the stall has to be shorter. */
export function leaseSoon(): RunLimits {
  const stall = expiring(3);
  return { ...NEVER, stall, lease: stall + expiring(1) };
}

/** A hop's silence is to end it, while the hosts live. */
export function stallSoon(): RunLimits {
  return { ...NEVER, stall: expiring(3) };
}

/** A host of a chain is to be lost by its silence: after a fifteenth of the stall timeout, 4 s at least. */
export function chainStallSoon(): RunLimits {
  return { ...NEVER, stall: 15 * expiring(4), connect: expiring(10) };
}

/** A host that does not answer is to be given up. */
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
