/** The script that finds an agent on a host and becomes it. POSIX, for any sh. */

import type { Platform } from './locate.ts';
import { IS_PRIVATE, PLACES, quoteForSh } from './places.ts';

export interface BootstrapOptions {
  /** Makes our first line unlike anything that a login shell prints. */
  readonly nonce: string;
  /** --agent PATH; no other is looked for. */
  readonly agentPath: string | undefined;
  readonly sudo: boolean;
  /** The version's directory for each platform we have programs for. */
  readonly digests: ReadonlyMap<Platform, string>;
}

/** What the first line of ours begins with; what follows is the hello, or why there is none. */
export function magicOf(nonce: string): string {
  return `rdstage/1 ${nonce} `;
}

/**
 * Ends in the agent, or prints `rdstage/1 NONCE missing OS CPU` and lets the shell wait for another script. The braces make
 * a shell read all of it before it runs any.
 */
export function bootstrapScript(options: BootstrapOptions): string {
  const search = options.agentPath === undefined ? searchPlaces(options) : tryPath(options.agentPath, options);
  return `{
nonce=${options.nonce}
${search}
printf '\\nrdstage/1 %s missing %s %s\\n' "$nonce" "$(uname -s)" "$(uname -m)"
}
`;
}

function searchPlaces(options: BootstrapOptions): string {
  const digests = [...options.digests].map(([platform, digest]) => `${platform}) version=${digest} ;;`);
  return `${IS_PRIVATE}
case $(uname -s | tr A-Z a-z)-$(uname -m) in ${digests.join(' ')} *) version= ;; esac
for place in ${PLACES.join(' ')}; do
  agent=$place/$version/rdstage
  if [ "$place" ] && [ "$version" ] && is_private "$place" && is_private "$place/$version" && [ -x "$agent" ]; then
    touch "$place/$version" 2>/dev/null
    exec ${becomeAgent(options)}
  fi
done`;
}

function tryPath(path: string, options: BootstrapOptions): string {
  const word = path.startsWith('~/') ? `"$HOME"/${quoteForSh(path.slice(2))}` : quoteForSh(path);
  return `agent=${word}
if [ -x "$agent" ]; then exec ${becomeAgent(options)}; fi`;
}

function becomeAgent({ sudo }: BootstrapOptions): string {
  return `${sudo ? 'sudo -n -- ' : ''}"$agent" --agent --nonce "$nonce"`;
}
