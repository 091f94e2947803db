/** The script that installs the agent on a host. For any POSIX sh; `say` is defined by remote-script. */

import type { Bundle } from './bundle.ts';
import { DIGEST_CHECK, dynamicSet, INSTALL_DIRS, plainSet, type RunningSet, TRUST_CHECK } from './install-dirs.ts';
import { PROGRAMS } from './locate.ts';

/**
 * Returns a script that installs a bundle in the first directory of the host in which programs can be written and run.
 * All files arrive on standard input, one after the other, after a line with their size in bytes. The script says
 * - `ready UNPACK` when it reads them: `gzip -dc` or `cat`; with ` or fetch` after that, the line may be
 *   `fetch ADDRESS PORT TOKEN` instead: then it gets the plain files from another host, and if that fails, says `ready`
 *   again, without ` or fetch`;
 * - `busy NONCE` if the script with this nonce, of the same run, copies to the same directory: a line with the nonce
 *   ends the wait;
 * - `refused REASON` for a directory that cannot be used;
 * - `ok`, after which the shell reads another script, or `failed`, after which it exits.
 * If its input ends before that, it removes what it created, and exits.
 */
export function deployScript(bundle: Bundle, run: string): string {
  return `(
umask 077
${TRUST_CHECK}
${DIGEST_CHECK}
${completenessCheck(bundle)}
${DIRECTORY_CHECK}
${TURN}
${receiveFiles(bundle)}
${AGENT_CHECK}
${PUBLISH}
install() {
  is_usable || return 1
  take_turn || leave
  is_installed || { receive && agent_runs && publish; }
  set -- $?
  unlock
  return $1
}
unlock() { [ "$(readlink "$lock" 2>/dev/null)" != "$nonce" ] || rm -f -- "$lock"; }
leave() {
  unlock
  rm -rf -- "$directory"
  exit 1
}
trap '' PIPE
for base in ${INSTALL_DIRS.join(' ')}; do
  version=$base/${bundle.digest} lock=$base/copying-${run} directory=
  if install; then rm -rf -- "$directory"; say ok; exit 0; fi
  [ ! "$directory" ] || rm -rf -- "$directory"
  say refused "\${base:-a directory whose variable is not set}: $reason"
done
say failed
exit 1
) || exit`;
}

/**
 * Defines `is_usable`: creates the install directory (and `.cache` in an existing home) and a new directory in it, and
 * is true if they are safe and programs can run there. Another run may create the install directory at the same moment.
 */
const DIRECTORY_CHECK = `make_base() {
  case $base in */.cache/rdpipe) [ ! -d "\${base%/*/*}" ] || mkdir -p -- "\${base%/*}" || return ;; esac
  mkdir -m 700 -- "$base"
}
is_usable() {
  [ "$base" ] || { reason='no such variable'; return 1; }
  [ -d "$base" ] || reason=$(make_base 2>&1) || [ -d "$base" ] || return 1
  find_base && is_safe "$base" || return 1
  version=$base/\${version##*/} lock=$base/\${lock##*/}
  reason=$(mkdir -m 700 -- "$base/new-$nonce" 2>&1) || return 1
  directory=$base/new-$nonce
  reason=$({ echo '#!/bin/sh' >"$directory/try" && chmod 700 "$directory/try"; } 2>&1) || return 1
  "$directory/try" 2>/dev/null || { reason='programs cannot run there (mounted noexec?)'; return 1; }
}`;

/**
 * Defines `take_turn`: hosts may have one home directory, and only one of a run's scripts copies to it. The others wait
 * until rdpipe reports that this script has ended, in whatever manner. Reading the directory makes NFS notice what
 * another host created. Without `readlink` the hosts do not wait: each directory that is published is complete.
 */
const TURN = `take_turn() {
  until ln -s "$nonce" "$lock" 2>/dev/null; do
    holder=$(readlink "$lock" 2>/dev/null)
    [ "$holder" ] || return 0
    say busy "$holder"
    read -r ended || return 1
    ls "$base" >/dev/null
    ! is_installed || return 0
    [ "$(readlink "$lock")" != "$ended" ] || rm -f -- "$lock"
  done
}
is_installed() { [ -e "$version" ] && is_safe "$base" "$version" && is_whole "$version"; }`;

/**
 * Defines `receive`: reads exactly the announced bytes, also if they cannot be written, because a script follows them.
 * `head` and `tail` may read ahead, so the files are taken from a copy of the whole. If the host has no program for
 * digests, only sizes are checked, and only of files from rdpipe: ssh protects those in transit.
 */
function receiveFiles({ agent, others }: Bundle): string {
  const files = [agent, ...others];
  const starts = files.map((_, index) => files.slice(0, index).reduce((sum, { bytes }) => sum + bytes, 1));
  const takes = files.map(({ name, bytes, sha256 }, index) => `take ${starts[index]} ${bytes} ${name} ${sha256}`);
  return `receive() {
  for program in head tail; do
    command -v $program >/dev/null || { reason="$program: command not found"; return 1; }
  done
  if command -v gzip >/dev/null; then unpack='gzip -dc'; else unpack=cat; fi
  or_fetch=' or fetch'
  { command -v bash && command -v timeout && digest "$directory/try" && [ "$sum" ]; } >/dev/null || or_fetch=
  while
    say ready "$unpack$or_fetch"
    read -r size address port token || leave
    [ "$size" = fetch ]
  do
    ! fetch || return 0
    or_fetch=
  done
  reason=$(head -c "$size" | { $unpack 2>&1 >"$directory/all"; set -- $?; cat >/dev/null; exit $1; }) ||
    { reason=\${reason:-$unpack failed}; return 1; }
  take_all
}
fetch() {
  echo "$token" | timeout ${FETCH_WITHIN_S} bash -c 'exec 3<>"/dev/tcp/$0/$1" && cat >&3 && exec head -c "$2" <&3' \
    "$address" "$port" ${files.reduce((sum, { bytes }) => sum + bytes, 0)} >"$directory/all" 2>/dev/null && take_all
}
take_all() {
  ${takes.join(' &&\n  ')} &&
  rm -f -- "$directory/all" "$directory/try"
}
take() {
  file=$directory/$3
  reason=$({ mkdir -p -- "\${file%/*}" && tail -c "+$1" "$directory/all" 2>/dev/null | head -c "$2" >"$file" &&
    chmod 700 "$file"; } 2>&1) || return 1
  reason='the copy is damaged'
  digest "$file"
  case $sum in
  "$4"*) ;;
  '') [ "$size" != fetch ] && [ "$(wc -c <"$file")" -eq "$2" ] ;;
  *) false ;;
  esac
}`;
}

/** After that, another host that does not answer is given up, and rdpipe sends the files. */
const FETCH_WITHIN_S = 20;

const AGENT_CHECK = `agent_runs() {
  reason=$("$directory/rdstage" --version 2>&1 >/dev/null)
  case $?$reason in
    0*) return 0 ;;
    126*'format error'*) reason="the agent for $(uname -m) does not run there" ;;
    126*) reason='programs cannot run there (mounted noexec?)' ;;
    *) reason="the agent for $(uname -m) does not run there: $(printf '%s\\n' "$reason" | tail -n 1)" ;;
  esac
  return 1
}`;

/**
 * Defines `publish`: renames the complete directory to its version. Another run may do the same at any moment, and its
 * directory is equally good: only a directory that failed the check is removed. Removes `dynamic/` if its programs do
 * not run on the host, and versions that were not used for 30 days.
 */
const PUBLISH = `publish() {
  for program in ${PROGRAMS.join(' ')}; do
    [ -f "$directory/dynamic/$program" ] || continue
    "$directory/dynamic/$program" --version >/dev/null 2>&1 || rm -rf -- "$directory/dynamic"
  done
  true >"$directory/used"
  if [ -e "$version" ] && ! is_installed; then rm -rf -- "$version"; fi
  reason='its programs were changed'
  [ -d "$version" ] || reason=$(mv -- "$directory" "$version" 2>&1)
  rm -rf -- "$version/\${directory##*/}"
  for old in "$base"/*; do
    [ "$old" = "$version" ] || [ "$(find "$old" "$old/used" -prune ! -mtime +30 2>/dev/null)" ] || rm -rf -- "$old"
  done
  is_whole "$version"
}`;

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
