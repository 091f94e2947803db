/** Where an agent is kept on a host, and when it is trusted, as shell text that the scripts there share. POSIX, for any sh. */
import type { Bundle } from './bundle.ts';

/** Directories of ours on a host, in the order in which they are tried, for what begins with TRUST. Each word is empty where its variable is. */
export const PLACES: readonly string[] = [
  '"${HOME:+$HOME/.cache/rdpipe}"',
  '"${XDG_RUNTIME_DIR:+$XDG_RUNTIME_DIR/rdpipe}"',
  '"/var/tmp/rdpipe-$me"',
];

/**
 * Defines `is_private DIR...`: directories, not links to any, that are ours and that nobody else may enter. Anything else in a
 * place where others may write could be somebody's trap.
 * And `is_guarded DIR`: nobody but us and root can put another in its place. All above it are ours or root's, and others may
 * write there only where they may not take away what is not theirs.
 * A program that is started takes longer than all the rest: the kernel knows our number too.
 */
export const TRUST = `me=
{ while read -r word me rest; do [ "$word" = Uid: ] && break; done </proc/self/status; } 2>/dev/null
[ "$me" ] || me=$(id -u)
is_private() {
  list=$(ls -ldn -- "$@" 2>/dev/null) || return 1
  while read -r mode links owner rest; do
    case $mode in drwx------+*) return 1 ;; drwx------*) [ "$owner" = "$me" ] || return 1 ;; *) return 1 ;; esac
  done <<END
$list
END
}
is_guarded() {
  above=$(cd -P -- "$1" 2>/dev/null && pwd -P) || return 1
  set -- /
  while above=\${above%/*}; [ "$above" ]; do set -- "$@" "$above"; done
  list=$(ls -ldn -- "$@" 2>/dev/null) || return 1
  while read -r mode links owner rest; do
    case $owner in 0 | "$me") ;; *) return 1 ;; esac
    case $mode in d????????[tT]*) ;; d????w* | d???????w*) return 1 ;; d*) ;; *) return 1 ;; esac
  done <<END
$list
END
}`;

/**
 * Defines `is_whole DIR`: the programs there that would run are the bundle's, no links, and their contents too where a program
 * computes digests. Those that use libraries of the host run where there are any.
 */
export function wholeness({ agent, others }: Bundle): string {
  const dynamic = others.filter(({ name }) => name.startsWith('dynamic/'));
  const plain = others.filter((file) => !dynamic.includes(file));
  return `is_whole() (
  cd -- "$1" || exit 1
  set -- ${namesOf([agent, ...plain])}
  wanted='${sumsOf([agent, ...plain])}'
  if [ -e dynamic ]; then
    [ ! -h dynamic ] || exit 1
    ${dynamic.length === 0 ? 'exit 1' : ':'}
    set -- ${namesOf([agent, ...dynamic])}
    wanted='${sumsOf([agent, ...dynamic])}'
  fi
  for file do [ -f "$file" ] && [ ! -h "$file" ] && [ -x "$file" ] || exit 1; done
  found=
  sums=$(sha256sum "$@" 2>/dev/null) || sums=$(shasum -a 256 "$@" 2>/dev/null) || sums=$(openssl dgst -sha256 -r "$@" 2>/dev/null)
  set -- $sums
  while [ "$1" ]; do found="$found$1 "; shift 2; done
  [ -z "$found" ] || [ "$found" = "$wanted" ]
)`;
}

/** A word that sh takes as it is, whatever it holds. */
export function quoteForSh(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`;
}

type Files = readonly Bundle['agent'][];

function namesOf(files: Files): string {
  return files.map(({ name }) => name).join(' ');
}

function sumsOf(files: Files): string {
  return files.map(({ sha256 }) => `${sha256} `).join('');
}
