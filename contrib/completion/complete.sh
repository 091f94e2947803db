#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Prints the candidates for a word, for every shell: hosts, and paths on hosts with an open connection.
#   rdpipe __complete hosts|stage|path WORD [EARLIER...]
# Each line is a candidate: WORD, without the quotes of the command line, and its continuation. EARLIER words contain
# the user's -F and -o. Never opens a connection. Names in files and on hosts are untrusted: only plain ones are shown.
LC_ALL=C
export LC_ALL
set -f
exec 2>/dev/null

NAMES_MAX=200
LONGEST_S=${RDPIPE_TAB_SECONDS-}
case $LONGEST_S in '' | . | *[!0-9.]* | *.*.*) LONGEST_S=2 ;; esac # nothing but completions may be printed here
INCLUDES_MAX=4
KEPT_S=5
BYTES_MAX=1000000
COMPLETE=complete # the last line of a listing

# Prints hosts that begin with the last host of the word, a list; it may contain a user. $1 is appended to each.
hosts() {
  case $word in *[!][A-Za-z0-9._@:+%,!/-]*) return ;; esac
  item=${word##*[,!]}
  begun=${word%"$item"}
  case ${begun##*\]} in *\[*) return ;; esac # in a range
  user=
  case $item in
    @*) user=@ ;;
    *@*) user=${item%"${item##*@}"} ;;
  esac
  if [ "$user" = @ ]; then groups; else known_hosts; fi | plain_names | sort -u |
    begun=$begun$user end=$1 awk '{ print ENVIRON["begun"] $0 ENVIRON["end"] }' | starting_with "$word"
}

# Prints the names of lists in the configuration file.
groups() {
  awk '/^[ \t]*\[/ { here = /^[ \t]*\[groups\]/ }
    here && sub(/[ \t]*=.*/, "") { gsub(/[" \t]/, ""); print }' <"${XDG_CONFIG_HOME:-$HOME/.config}/rdpipe/config.toml"
}

known_hosts() {
  if [ "$config" ]; then
    config_names "$config" ~/.ssh 0
  else
    config_names ~/.ssh/config ~/.ssh 0
    config_names /etc/ssh/ssh_config /etc/ssh 0
  fi
  cat ~/.ssh/known_hosts ~/.ssh/known_hosts2 /etc/ssh/ssh_known_hosts |
    awk '$1 !~ /^[#@|]/ && NF > 2 { n = split($1, names, ","); for (i = 1; i <= n; i++) print names[i] }'
}

# Prints the names in a configuration of ssh: $1 its file, $2 the directory of included files, $3 the include depth.
config_names() (
  [ -f "$1" ] && [ "$3" -le "$INCLUDES_MAX" ] || exit 0
  values_of host "$1"
  values_of include "$1" | while IFS= read -r pattern; do
    case $pattern in
      "~/"*) pattern=$HOME/${pattern#"~/"} ;;
      /*) ;;
      *) pattern=$2/$pattern ;;
    esac
    IFS=
    set +f
    for file in $pattern; do config_names "$file" "$2" $(($3 + 1)); done
  done
)

# Prints the values of keyword $1 in file $2: `Keyword value...` or `Keyword=value`, up to a comment.
values_of() {
  awk -v keyword="$1" '{ gsub(/[="]/, " ") }
    tolower($1) == keyword { for (i = 2; i <= NF && $i !~ /^#/; i++) print $i }' <"$2"
}

# Passes only lines that are names or addresses; IPv6 addresses get brackets, as in a stage.
plain_names() {
  awk 'length($0) < 256 && /^[A-Za-z0-9_][A-Za-z0-9._-]*$/
    length($0) < 46 && /^[0-9A-Fa-f]*:[0-9A-Fa-f.]*:[0-9A-Fa-f:.]*$/ { print "[" $0 "]" }'
}

starting_with() {
  wanted=$1 awk 'index($0, ENVIRON["wanted"]) == 1'
}

# Sets host, and rest to the text after its colon; fails if the word has no host.
read_host() {
  host=${word%%:*}
  case $host in
    \[* | *@\[*)
      case $word in *\]:*) host=${word%%\]:*}] ;; *) return 1 ;; esac
      ;;
    "$word") return 1 ;;
  esac
  rest=${word#"$host":}
}

# Prints paths on the host; "$@" are options of ssh. In a stage, a redirection and a path as a word of sh follow it.
paths() {
  case $host in -* | *@-* | *[!][A-Za-z0-9._@:+%-]*) return ;; esac
  if [ "$kind" = stage ]; then read_redirection || return; fi
  home=
  case $rest in
    "~/"*) home=yes rest=${rest#"~/"} ;;
    "~"*) return ;;
  esac
  name=${rest##*/}
  directory=${rest%"$name"}
  begun=${word%"$name"}
  escaped=cat
  if [ "$kind" = stage ]; then
    directory=$(unescaped "$directory") && name=$(unescaped "$name") || return
    escaped=escaped
  fi
  listing "$@" | sed -n 's/^=//p' | starting_with "$name" | harmless | head -n "$NAMES_MAX" | "$escaped" |
    begun=$begun awk '{ print ENVIRON["begun"] $0 }' | starting_with "$word"
}

read_redirection() {
  rest=${rest#"${rest%%[! ]*}"}
  case $rest in
    '>>'*) rest=${rest#??} ;;
    '<'* | '>'*) rest=${rest#?} ;;
    *) return 1 ;;
  esac
  rest=${rest#"${rest%%[! ]*}"}
}

# Prints a word of sh without its backslashes; fails if sh would do more than drop them. Quotes are not completed.
unescaped() {
  printf '%s\n' "$1" | sed 's/\\.//g' | grep -q "$SPECIAL" && return 1
  printf '%s\n' "$1" | sed 's/\\\(.\)/\1/g'
}

escaped() {
  sed "s/$SPECIAL/\\\\&/g"
}
SPECIAL='[][ '"'"'"$`&|;<>()*?#!~^{}\]'

# Drops unsafe answers of a host: with control characters, characters that change the direction of text or have no width
# (U+061C, U+200B to U+200F, U+202A to U+202E, U+2060 to U+206F, U+FEFF), or with a path into another directory.
harmless() {
  awk '!/[\001-\037\177]/ && !/\302[\200-\237]/ && !/\/./ && !/\330\234/ && !/\357\273\277/ &&
    !/\342\200[\213-\217\252-\256]/ && !/\342\201[\240-\257]/'
}

listing() {
  if [ "$host" ]; then
    kept_listing "$@"
  elif [ "$kind" = stage ]; then
    listing_script | sh
  fi
}

# Prints the answer of the host, which is kept for a while: the next Tab often asks for the same.
kept_listing() {
  cache=${XDG_RUNTIME_DIR:-$HOME/.cache}/rdpipe/tab
  (umask 077 && mkdir -p "$cache")
  find "$cache" -type f ! -newermt "$KEPT_S seconds ago" -delete
  kept=$cache/$(printf '%s\n' "$host" "$home" "$directory" "$name" "$@" | sha256sum | cut -c 1-32)
  [ ! -s "$kept" ] || exec cat "$kept"
  answer=$(listing_script | timeout "$LONGEST_S" sh "$0" names "$host" "$@" | head -c "$BYTES_MAX")
  printf '%s\n' "$answer"
  case $answer in *"$COMPLETE") (umask 077 && printf '%s\n' "$answer" >"$kept.$$" && mv "$kept.$$" "$kept") ;; esac
}

# A login shell may print a greeting, so the lines of the listing begin with =.
listing_script() {
  printf '%s\n' "home=$home" "directory=$(quoted "$directory")" "name=$(quoted "$name")" "left=$NAMES_MAX" '
LC_ALL=C
unset CDPATH
[ -z "$home" ] || cd || exit 0
[ -z "$directory" ] || cd -- "$directory" || exit 0
for found in "$name"*; do
  case $found in . | .. | *[[:cntrl:]]*) continue ;; esac
  if [ -d "./$found" ]; then printf "=%s/\n" "$found"
  elif [ -e "./$found" ] || [ -h "./$found" ]; then printf "=%s\n" "$found"
  else continue; fi
  left=$((left - 1))
  [ "$left" -gt 0 ] || break
done
echo '"$COMPLETE"'
exit 0'
}

quoted() {
  printf "'%s'" "$(printf '%s\n' "$1" | sed "s/'/'\\\\''/g")"
}

# Runs the script from standard input over the first open connection.
names() {
  host=$1
  shift
  script=$(cat)
  sockets "$@" | while IFS= read -r socket; do
    [ -S "$socket" ] && [ -O "$socket" ] || continue
    # Without a server at the socket, ssh would open a connection: ProxyCommand=false prevents this.
    printf '%s\n' "$script" | ssh -F none -S "$socket" -o ControlMaster=no -o ProxyCommand=false -o BatchMode=yes \
      -T -x -- host sh && break
  done
}

# Prints the user's sockets, then those of --persist: packages/rdpipe/src/session/openssh/persistent-path.ts.
sockets() {
  ssh -G "$@" -- "$(printf '%s' "$host" | tr -d '[]')" </dev/null | sed -n 's/%/%%/g; s/^controlpath \//\//p'
  tag=$(printf '%s' "$host" | sha256sum | cut -c 1-8)
  set +f
  printf '%s\n' "$XDG_RUNTIME_DIR/rdpipe/ssh/$tag"* ~/.cache/rdpipe/ssh/"$tag"*
}

kind=$1 word=$2
shift 2
if [ "$kind" = names ]; then
  names "$word" "$@"
  exit 0
fi
exec </dev/null
# Keep only -F and -o with their values.
config= flag=
for earlier; do
  shift
  case $flag$earlier in
    -[Fo]) flag=$earlier && continue ;;
    -F*)
      config=${flag#-F}${earlier#-F}
      case $config in "~/"*) config=$HOME/${config#"~/"} ;; esac
      set -- "$@" "-F$config"
      ;;
    -o*) set -- "$@" "$flag$earlier" ;;
  esac
  flag=
done
case $kind:$word in
  *[[:cntrl:]]* | path:[A-Za-z]*://*) ;;
  hosts:*) hosts '' ;;
  stage:* | path:*) if read_host; then paths "$@"; else hosts :; fi ;;
esac
exit 0
