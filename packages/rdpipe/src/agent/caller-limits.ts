/** The caller's limits of cores and descriptors, which the agent on this machine restores for commands. */

let limits: string | undefined;

/**
 * Soft limits of cores and descriptors as they were before rdpipe began, CORES,FILES in words of `ulimit`: bin/rdpipe
 * lowers the first, for a core of ours would hold the keys of hops, and node raises the second. Kept for what is
 * started here.
 */
export function keepCallersLimits(text: string | undefined): void {
  limits = text;
}

/** Options of an agent on this machine. */
export function callersLimits(): readonly string[] {
  return limits === undefined ? [] : ['--stage-limits', limits];
}
