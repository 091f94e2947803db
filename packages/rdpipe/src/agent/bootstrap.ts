/** The script that finds an agent on a host and replaces itself with the agent. For any POSIX sh. */

import { posix } from 'node:path';
import { quoteForSh } from '../model/shell-quote.ts';
import type { Bundle, Bundles } from './bundle.ts';
import { DIGEST_CHECK, dynamicSet, INSTALL_DIRS, plainSet, type RunningSet, TRUST_CHECK } from './install-dirs.ts';
import type { Platform } from './locate.ts';

export interface BootstrapOptions {
  /** Distinguishes the agent's first line from any output of a login shell. */
  readonly nonce: string;
  /** The PATH of --agent; if set, no other agent is searched for. */
  readonly agentPath: string | undefined;
  readonly sudo: boolean;
  /** The programs that should be installed on the host. */
  readonly bundles: Bundles;
}

/**
 * Returns a script that becomes the agent, or prints `rdstage/1 NONCE missing OS CPU`, followed by `damaged` if an
 * agent that it found differs from the one that rdpipe installed (the agent itself checks the programs next to it).
 * If it finds another one then, it prints `rdstage/1 NONCE damaged` and becomes that. The braces make a shell read the
 * complete script before it runs any of it.
 */
export function bootstrapScript(options: BootstrapOptions): string {
  const become = `exec ${becomeAgent(options)} \${sums:+--sums "$sums"}`;
  const search =
    options.agentPath === undefined ? searchInstallDirs(options.bundles, become) : tryPath(options.agentPath, options);
  return `{
nonce=${options.nonce}
system=
damaged=
${search}
printf '\\nrdstage/1 %s missing %s%s\\n' "$nonce" "\${system:-$(uname -sm)}" "$damaged"
}
`;
}

/**
 * Returns a script that becomes the program that gives this bundle to other hosts, on a port of the range (0: any), or
 * exits if the bundle is not there. It prints `rdpipe NONCE offering PORT`, then reads the token.
 */
export function offerScript(bundle: Bundle, nonce: string, [low, high]: readonly [number, number]): string {
  const programs = [bundle.agent, ...bundle.others].map(({ name }) => `"$base/$version/${name}"`).join(' ');
  const become = `exec "$agent" --offer --nonce "$nonce" ${low > 0 ? `--ports ${low}-${high} ` : ''}-- ${programs}`;
  return `{
nonce=${nonce}
damaged=
${searchInstallDirs(new Map([['only', bundle]]), become)}
exit 1
}
`;
}

/** Returns commands that run `become` if an intact bundle is found: then `agent`, `base`, `version`, `sums` are set. */
function searchInstallDirs(bundles: Bundles, become: string): string {
  return `${TRUST_CHECK}
${DIGEST_CHECK}
version=
${chooseVersion(bundles)}
for base in ${INSTALL_DIRS.join(' ')}; do
  if [ "$version" ] && find_base && is_safe "$base" "$base/$version"; then
    choose_set "$base/$version"
    if is_right "$agent" "$wanted"; then
      { true >"$base/$version/used"; } 2>/dev/null
      [ ! "$damaged" ] || printf '\nrdstage/1 %s%s\n' "$nonce" "$damaged"
      ${become}
    fi
    damaged=' damaged'
  fi
done`;
}

/**
 * Returns commands that set `version`. A single bundle is used on any host: its programs were tried there when they
 * were copied.
 */
function chooseVersion(bundles: Bundles): string {
  const [only, ...more] = bundles.values();
  if (only !== undefined && more.length === 0) return useBundle(only);
  return `system=$(uname -sm)
case $system in
${[...bundles].map(([platform, bundle]) => `${patternOf(platform)})\n${useBundle(bundle)}\n;;`).join('\n')}
esac`;
}

/**
 * Returns commands that set `version` and define `choose_set DIRECTORY`, which selects the agent of this version that
 * would run there, and the digests of the programs next to it.
 */
function useBundle(bundle: Bundle): string {
  const dynamic = dynamicSet(bundle);
  return `version=${bundle.digest}
choose_set() {
${useSet({ ...plainSet(bundle), others: bundle.others })}
${dynamic === undefined ? '' : `if [ -e "$1/dynamic" ] && [ ! -h "$1/dynamic" ]; then\n${useSet(dynamic)}\nfi`}
}`;
}

function useSet({ agent, others }: RunningSet): string {
  const directory = posix.dirname(agent.name);
  const sums = others.map(({ name, sha256 }) => `${posix.relative(directory, name)}=${sha256}`);
  return `agent=$1/${agent.name} wanted=${agent.sha256} sums=${sums.join(',')}`;
}

/** Returns a pattern for the output of `uname -sm`, in upper or lower case, from a platform such as `linux-x86_64`. */
function patternOf(platform: Platform): string {
  const [system = '', ...machine] = platform.split('-');
  return `${system.replace(/[a-z]/g, (letter) => `[${letter.toUpperCase()}${letter}]`)}' ${machine.join('-')}'`;
}

function tryPath(path: string, options: BootstrapOptions): string {
  const word = path.startsWith('~/') ? `"$HOME"/${quoteForSh(path.slice(2))}` : quoteForSh(path);
  return `agent=${word}
if [ -x "$agent" ]; then exec ${becomeAgent(options)}; fi`;
}

function becomeAgent({ sudo }: BootstrapOptions): string {
  return `${sudo ? 'sudo -n -- ' : ''}"$agent" --agent --nonce "$nonce"`;
}
