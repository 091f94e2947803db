/** The scripts that install the agent on a host. For any POSIX sh; `say` is defined by remote-script. */

import { quoteForSh } from '../model/shell-quote.ts';
import type { Bundle, BundleFile } from './bundle.ts';
import { DIGEST_CHECK, dynamicSet, plainSet, type RunningSet, TRUST_CHECK } from './install-dirs.ts';
import { PROGRAMS } from './locate.ts';

/**
 * Returns a script that creates a new directory in an install directory, receives the agent on standard input, tries
 * the agent, and answers with the path of the new directory. Another run may create the install directory at the same
 * moment.
 */
export function acceptAgentScript(dir: string, agent: BundleFile): string {
  return `umask 077
${TRUST_CHECK}
${DIGEST_CHECK}
directory=
base=${dir}
fail() { [ "$directory" ] && rm -rf -- "$directory"; say failed "\${base:-a directory whose variable is not set}: $*"; exit; }
[ "$base" ] || fail 'no such variable'
[ -d "$base" ] || reason=$({ mkdir -p -- "\${base%/*}" && mkdir -m 700 -- "$base"; } 2>&1) || [ -d "$base" ] || fail "$reason"
is_safe "$base" || fail "$reason"
directory=$base/new-$nonce
reason=$(mkdir -m 700 -- "$directory" 2>&1) || { bad=$reason directory= ; fail "$bad"; }
${acceptFile(agent)}
reason=$("$directory/${agent.name}" --version 2>&1 >/dev/null)
case $?$reason in
  0*) say ok "$directory" ;;
  126*'format error'*) fail "the agent for $(uname -m) does not run there" ;;
  126*) fail 'programs cannot run there (mounted noexec?)' ;;
  *) fail "the agent for $(uname -m) does not run there: $(printf '%s\n' "$reason" | tail -n 1)" ;;
esac`;
}

/** Returns a script that receives one more file into the directory. */
export function acceptFileScript(directory: string, file: BundleFile): string {
  return `umask 077
${DIGEST_CHECK}
directory=${quoteForSh(directory)}
fail() { rm -rf -- "$directory"; say failed "\${directory%/*}: $*"; exit; }
${acceptFile(file)}
say ok`;
}

/**
 * Returns a script that renames the complete directory to its version. Another run may do the same at any moment, and
 * its directory is equally good: only a directory that failed the check is removed. The script removes `dynamic/` if
 * its programs do not run on the host, and versions that were not used for 30 days.
 */
export function installScript(dir: string, directory: string, bundle: Bundle): string {
  return `${TRUST_CHECK}
${DIGEST_CHECK}
${completenessCheck(bundle)}
base=${dir}
directory=${quoteForSh(directory)}
version=$base/${bundle.digest}
for program in ${PROGRAMS.join(' ')}; do
  [ -f "$directory/dynamic/$program" ] || continue
  "$directory/dynamic/$program" --version >/dev/null 2>&1 || rm -rf -- "$directory/dynamic"
done
(umask 077 && true >"$directory/used")
if [ -e "$version" ] && ! { is_safe "$base" "$version" && is_whole "$version"; }; then rm -rf -- "$version"; fi
[ -d "$version" ] || reason=$(mv -- "$directory" "$version" 2>&1)
rm -rf -- "$directory" "$version/\${directory##*/}"
for old in "$base"/*; do
  [ "$old" = "$version" ] || [ "$(find "$old" "$old/used" -prune ! -mtime +30 2>/dev/null)" ] || rm -rf -- "$old"
done
if is_whole "$version"; then say ok; else say failed "$version: $reason"; fi`;
}

/**
 * Returns commands that receive one file and check it. If the host has no program for digests, they check only the
 * size: ssh protects the bytes in transit.
 */
function acceptFile({ name, bytes, sha256 }: BundleFile): string {
  return `file=$directory/${name}
mkdir -p -- "\${file%/*}"
if command -v gzip >/dev/null; then unpack='gzip -dc'; else unpack=cat; fi
say ready $unpack
reason=$($unpack 2>&1 >"$file") || fail "\${reason:-$unpack ended with status $?}"
chmod 700 "$file"
digest "$file"
case $sum in
  ${sha256}*) ;;
  '') [ "$(wc -c <"$file")" -eq ${bytes} ] || fail 'the copy is damaged' ;;
  *) fail 'the copy is damaged' ;;
esac`;
}

/** Defines `is_whole DIR`: true if the programs that would run from DIR are the bundle's. */
function completenessCheck(bundle: Bundle): string {
  const dynamic = dynamicSet(bundle);
  return `is_whole() {
  if [ -e "$1/dynamic" ]; then
    [ ! -h "$1/dynamic" ] && ${dynamic === undefined ? 'false' : allIntact(dynamic)}
  else
    ${allIntact(plainSet(bundle))}
  fi
}`;
}

function allIntact({ agent, others }: RunningSet): string {
  return [agent, ...others].map(({ name, sha256 }) => `is_right "$1/${name}" ${sha256}`).join(' && ');
}
