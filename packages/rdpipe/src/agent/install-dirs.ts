/** The agent's directories on a host, and the shell functions that decide whether to trust them. */
import type { Bundle } from './bundle.ts';

/**
 * Install directories on a host, in the order in which they are tried, as words for scripts that begin with
 * TRUST_CHECK. A word is empty if its variable is.
 */
export const INSTALL_DIRS: readonly string[] = [
  '"${HOME:+$HOME/.cache/rdpipe}"',
  '"${XDG_RUNTIME_DIR:+$XDG_RUNTIME_DIR/rdpipe}"',
  '"/var/tmp/rdpipe-$me"',
];

/**
 * Sets `me` to the user ID, and defines
 * - `find_base`: true if `base` is a directory, and no link to one of another name, in which old files might be
 *   removed. Then it becomes its path without symbolic links, which other users could exchange after the check;
 * - `is_safe DIR...`, for paths without symbolic links: true if each DIR is a directory with mode 0700 and no ACL,
 *   owned by this user, and every directory above the first DIR is owned by this user or root, and not writable by
 *   others unless it is sticky. Otherwise `reason` is set: other users might replace the programs.
 * Starting a program takes longer than everything else, so one `ls` lists all directories, with `//` before each DIR to
 * distinguish it from the directories above, and the user ID is read from /proc.
 */
export const TRUST_CHECK = `me=
{ while read -r word me rest; do [ "$word" = Uid: ] && break; done </proc/self/status; } 2>/dev/null
[ "$me" ] || me=$(id -u)
find_base() {
  reason='not a directory of this user with mode 0700'
  case $base in /*) [ -d "$base" ] || return 1 ;; *) return 1 ;; esac
  found=$(cd -P -- "$base" 2>/dev/null && pwd -P)
  case $found in */"\${base##*/}") base=$found ;; *) return 1 ;; esac
}
is_safe() {
  reason='not a directory of this user with mode 0700'
  for dir do [ -d "$dir" ] || return 1; done
  above=$1
  for dir do shift; set -- "$@" "/$dir"; done
  set -- / "$@"
  while above=\${above%/*}; [ "$above" ]; do set -- "$above" "$@"; done
  list=$(ls -ldn -- "$@" 2>/dev/null) || return 1
  while read -r mode links owner rest; do
    case $rest in
    *//*)
      case $mode in drwx------+*) return 1 ;; drwx------*) [ "$owner" = "$me" ] || return 1 ;; *) return 1 ;; esac
      continue ;;
    esac
    case $owner in 0 | "$me") ;; *) open_above; return 1 ;; esac
    case $mode in d????????[tT]*) ;; d????w* | d???????w*) open_above; return 1 ;; d*) ;; *) return 1 ;; esac
  done <<END
$list
END
}
open_above() { reason='other users may replace it'; }`;

/**
 * Defines `is_right FILE SHA256`: true if FILE is an executable regular file, not a symbolic link, with this digest. If
 * the host has no program for digests, the content is not checked. `digest FILE` sets `sum` to the digest and more
 * text, or to nothing.
 */
export const DIGEST_CHECK = `digest() {
  sum=$(sha256sum <"$1" 2>/dev/null) || sum=$(shasum -a 256 <"$1" 2>/dev/null) || sum=$(openssl dgst -sha256 -r <"$1" 2>/dev/null) || sum=
}
is_right() {
  [ -f "$1" ] && [ ! -h "$1" ] && [ -x "$1" ] || return 1
  digest "$1"
  case $sum in "$2"* | '') ;; *) return 1 ;; esac
}`;

/** The programs of a bundle that run on a host: from `dynamic/` if the host has kept it. */
export interface RunningSet {
  readonly agent: Bundle['agent'];
  readonly others: Bundle['others'];
}

/** Returns the programs outside of `dynamic/`. */
export function plainSet({ agent, others }: Bundle): RunningSet {
  return { agent, others: others.filter((file) => !isDynamic(file)) };
}

/**
 * Returns undefined if the bundle has no dynamic programs. If they include no agent, the agent of the plain set is
 * used, which is outside of `dynamic/`; so is the program that hops over TCP use.
 */
export function dynamicSet({ agent, others }: Bundle): RunningSet | undefined {
  const dynamic = others.filter(isDynamic);
  const own = dynamic.find(({ name }) => name === `${DYNAMIC}${agent.name}`);
  if (dynamic.length === 0) return undefined;
  const used = others.filter((file) => file !== own && (isDynamic(file) || file.name === HOP_PROGRAM));
  return { agent: own ?? agent, others: used };
}

const DYNAMIC = 'dynamic/';
const HOP_PROGRAM = 'rdhop';

function isDynamic({ name }: Bundle['agent']): boolean {
  return name.startsWith(DYNAMIC);
}
