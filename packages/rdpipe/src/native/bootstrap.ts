/** The script that finds an agent on a host and becomes it. POSIX, for any sh. */
import type { Bundles } from './bundle.ts';
import type { Platform } from './locate.ts';
import { PLACES, quoteForSh, TRUST, wholeness } from './places.ts';

export interface BootstrapOptions {
  /** Makes our first line unlike anything that a login shell prints. */
  readonly nonce: string;
  /** --agent PATH; no other is looked for. */
  readonly agentPath: string | undefined;
  readonly sudo: boolean;
  /** What we would have there. */
  readonly bundles: Bundles;
}

/** What the first line of ours begins with; what follows is the hello, or why there is none. */
export function magicOf(nonce: string): string {
  return `rdstage/1 ${nonce} `;
}

/**
 * Ends in the agent, or prints `rdstage/1 NONCE missing OS CPU` (and `damaged` where one was found that is not what we put
 * there) and lets the shell wait for another script. The braces make a shell read all of it before it runs any.
 */
export function bootstrapScript(options: BootstrapOptions): string {
  const search = options.agentPath === undefined ? searchPlaces(options) : tryPath(options.agentPath, options);
  return `{
nonce=${options.nonce}
system=$(uname -sm)
${search}
printf '\\nrdstage/1 %s missing %s%s\\n' "$nonce" "$system" "$damaged"
}
`;
}

function searchPlaces(options: BootstrapOptions): string {
  return `${TRUST}
damaged=
version=
case $system in
${[...options.bundles].map(([platform, bundle]) => `${patternOf(platform)})\nversion=${bundle.digest}\n${wholeness(bundle)}\n;;`).join('\n')}
esac
for place in ${PLACES.join(' ')}; do
  agent=$place/$version/rdstage
  if [ "$place" ] && [ "$version" ] && is_private "$place" "$place/$version" && is_guarded "$place"; then
    if is_whole "$place/$version"; then
      { true >"$place/$version/used"; } 2>/dev/null
      exec ${becomeAgent(options)}
    fi
    damaged=' damaged'
  fi
done`;
}

/** `linux-x86_64` as `uname -sm` says it, in whatever case. */
function patternOf(platform: Platform): string {
  const [system = '', ...machine] = platform.split('-');
  return `${system.replace(/[a-z]/g, (letter) => `[${letter.toUpperCase()}${letter}]`)}' ${machine.join('-')}'`;
}

function tryPath(path: string, options: BootstrapOptions): string {
  const word = path.startsWith('~/') ? `"$HOME"/${quoteForSh(path.slice(2))}` : quoteForSh(path);
  return `agent=${word}
damaged=
if [ -x "$agent" ]; then exec ${becomeAgent(options)}; fi`;
}

function becomeAgent({ sudo }: BootstrapOptions): string {
  return `${sudo ? 'sudo -n -- ' : ''}"$agent" --agent --nonce "$nonce"`;
}
