/** The caller's limits of cores and descriptors, which the agent on this machine restores for commands. */

let limits: string | undefined;

/**
 * Keeps the soft limits of core size and descriptors that were set when rdpipe was started: CORES,FILES as `ulimit`
 * prints them; undefined if they are not known. bin/rdpipe lowers the core limit, because a core dump of rdpipe would
 * contain the keys of hops, and node raises the descriptor limit. Commands on this machine get the original limits.
 */
export function keepCallersLimits(text: string | undefined): void {
  limits = text;
}

/** Returns the options that pass these limits to an agent on this machine. */
export function callersLimits(): readonly string[] {
  return limits === undefined ? [] : ['--stage-limits', limits];
}
