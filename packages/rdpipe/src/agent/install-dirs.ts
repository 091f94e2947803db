/** The agent's directories on a host, and the shell functions that decide whether to trust them. */
import type { Bundle } from './bundle.ts';

/**
 * Directories of ours on a host, in the order in which they are tried, for scripts that begin with TRUST_CHECK. Each
 * word is empty where its variable is.
 */
export const INSTALL_DIRS: readonly string[] = [
  '"${HOME:+$HOME/.cache/rdpipe}"',
  '"${XDG_RUNTIME_DIR:+$XDG_RUNTIME_DIR/rdpipe}"',
  '"/var/tmp/rdpipe-$me"',
];

/**
 * Defines `is_safe DIR...`: directories, not links to any, that are ours and that no other user may enter; anything
 * else in a place where others may write could be a trap. And only we and root may replace the first: all above it are
 * ours or root's, and others may write there only where they may not take away what is not theirs. Where it is not so,
 * `reason` has the reason.
 * A program that is started takes longer than all the rest: one `ls` lists all of them, the first ones marked by `//`
 * against those above, and the kernel knows our number.
 */
export const TRUST_CHECK = `me=
{ while read -r word me rest; do [ "$word" = Uid: ] && break; done </proc/self/status; } 2>/dev/null
[ "$me" ] || me=$(id -u)
is_safe() {
  reason='not a directory of this user with mode 0700'
  for dir do case $dir in /*) [ -d "$dir" ] || return 1 ;; *) return 1 ;; esac; done
  above=$(cd -P -- "$1" 2>/dev/null && pwd -P) || return 1
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
 * Defines `is_right FILE SHA256`: a program, no link, and its contents too where a program computes digests. And its
 * helper: `digest FILE` sets `sum` to the digest and more, or to nothing.
 */
export const DIGEST_CHECK = `digest() {
  sum=$(sha256sum <"$1" 2>/dev/null) || sum=$(shasum -a 256 <"$1" 2>/dev/null) || sum=$(openssl dgst -sha256 -r <"$1" 2>/dev/null) || sum=
}
is_right() {
  [ -f "$1" ] && [ ! -h "$1" ] && [ -x "$1" ] || return 1
  digest "$1"
  case $sum in "$2"* | '') ;; *) return 1 ;; esac
}`;

/** The programs of a bundle that run on a host, named in one directory: the host has kept `dynamic/` or not. */
export interface RunningSet {
  readonly agent: Bundle['agent'];
  readonly others: Bundle['others'];
}

export function plainSet({ agent, others }: Bundle): RunningSet {
  return { agent, others: others.filter((file) => !isDynamic(file)) };
}

/** Undefined: the bundle has none. One without an agent has that of the plain set, outside of the directory. */
export function dynamicSet({ agent, others }: Bundle): RunningSet | undefined {
  const dynamic = others.filter(isDynamic);
  const own = dynamic.find(({ name }) => name === `${DYNAMIC}${agent.name}`);
  return dynamic.length === 0 ? undefined : { agent: own ?? agent, others: dynamic.filter((file) => file !== own) };
}

const DYNAMIC = 'dynamic/';

function isDynamic({ name }: Bundle['agent']): boolean {
  return name.startsWith(DYNAMIC);
}
