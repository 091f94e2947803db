# SPDX-License-Identifier: Apache-2.0
# Completion of rdpipe and rdcp for bash 4.2 and later, with or without the package bash-completion.

_rdpipe() { _rdpipe_complete run "$2"; }
_rdcp() { _rdpipe_complete copy "$2"; }

# $2 is the text that bash replaces. It may begin within the word, after a quote or a character of COMP_WORDBREAKS: the
# rest of each candidate is appended to it.
_rdpipe_complete() {
  local topic=$1 text=$2 IFS=$' \t\n' words quote flag options=yes stages= word values candidates=()
  COMPREPLY=()
  _rdpipe_split "${COMP_LINE:0:COMP_POINT}"
  [ "$quote" = \\ ] && return
  _rdpipe_place
  word=${words[${#words[@]} - 1]}
  if [ "$flag" ]; then
    _rdpipe_values "$flag"
    _rdpipe_offer_values ''
  elif [[ $options && $word == --*=* ]] && _rdpipe_values "${word%%=*}"; then
    _rdpipe_offer_values "${word%%=*}="
  elif [[ $options && $word == -* ]]; then
    _rdpipe_options "$topic"
  else
    _rdpipe_offer_words
  fi
  _rdpipe_reply
}

# Sets words, without their quotes, and quote to the open quote of the last word.
_rdpipe_split() {
  local line=$1 char word= begun= i
  words=() quote=
  for ((i = 0; i < ${#line}; i++)); do
    char=${line:i:1}
    case $quote$char in
      \' | \") quote=$char begun=yes ;;
      \'\' | \"\") quote= ;;
      \"\\)
        char=${line:$((++i)):1}
        case $char in
          '') quote=\\ ;;
          [\"\\\$\`]) word+=$char ;;
          *) word+=\\$char ;;
        esac
        ;;
      \'* | \"*) word+=$char ;;
      \\)
        char=${line:$((++i)):1}
        [ "$char" ] || quote=\\
        word+=$char begun=yes
        ;;
      [[:space:]] | [\;\|\&\<\>\(\)])
        [ "$begun" ] && words+=("$word")
        word= begun=
        ;;
      *) word+=$char begun=yes ;;
    esac
  done
  words+=("$word")
}

# Sets topic, flag (the option whose value is completed), options (whether options are allowed here) and stages.
_rdpipe_place() {
  local i
  flag=
  for ((i = 1; i < ${#words[@]} - 1; i++)); do
    if [ "$flag" ]; then
      flag=
      continue
    fi
    case $options:${words[i]} in
      yes:--) options= ;;
      yes:-?*) _rdpipe_values "${words[i]}" && flag=${words[i]} ;;
      *)
        case $topic$stages:${words[i]} in
          run:doctor | run:bench | run:demo | run:help) topic=${words[i]} ;;
          run:*) options= ;;
        esac
        stages=yes
        ;;
    esac
  done
}

_rdpipe_offer_values() {
  if [ "${values[0]}" = '<files>' ]; then compopt -o default 2>/dev/null
  else candidates=("${values[@]/#/$1}"); fi
}

_rdpipe_offer_words() {
  case $topic in
    run)
      _rdpipe_ask stage
      [ "$stages" ] || candidates+=("${_rdpipe_subcommands[@]}")
      ;;
    copy)
      _rdpipe_ask path
      [[ $word == *:* && ${word%%:*} != */* ]] || _rdpipe_offer_files
      ;;
    doctor | bench) _rdpipe_ask hosts ;;
    help) [ ${#words[@]} = 3 ] && candidates=("${_rdpipe_topics[@]}") ;;
  esac
}

_rdpipe_ask() {
  mapfile -t candidates < <(command rdpipe __complete "$1" "$word" "${words[@]:1:${#words[@]}-2}" 2>/dev/null)
}

# bash's own completion of files is better, if there are no other candidates.
_rdpipe_offer_files() {
  if [ ${#candidates[@]} = 0 ]; then
    compopt -o default 2>/dev/null
    return
  fi
  local files file
  mapfile -t files < <(compgen -f -- "$word")
  for file in "${files[@]}"; do
    [ -d "$file" ] && file+=/
    candidates+=("$file")
  done
}

_rdpipe_reply() {
  local candidate rest
  for candidate in "${candidates[@]}"; do
    [[ $candidate == "$word"* ]] || continue
    rest=${candidate:${#word}}
    case $quote in
      \') rest=${rest//\'/\'\\\'\'} ;;
      \")
        rest=${rest//\\/\\\\}
        rest=${rest//\"/\\\"}
        rest=${rest//\$/\\\$}
        rest=${rest//\`/\\\`}
        rest=${rest//\!/\"\'!\'\"} # only single quotes keep ! from the history
        ;;
      *) [ -z "$rest" ] || printf -v rest %q "$rest" ;;
    esac
    COMPREPLY+=("$text$rest")
  done
  # The word is incomplete, but bash would close its quote after a single candidate.
  if [[ ${#COMPREPLY[@]} = 1 && ${COMPREPLY[0]} == *[:/] ]]; then
    compopt -o nospace 2>/dev/null
    [ "$quote" ] && COMPREPLY+=("${COMPREPLY[0]}*")
  fi
}

# Made by npm run fix:
_rdpipe_options() {
  case $1 in
    run) candidates=(-v --verbose -q --quiet --no-quiet -n --dry-run -p --port -H --hostname --data --transport --encrypt --compress --jobs --limit --streams --buffer --poll --no-poll --numa --congestion --ok --lenient --no-lenient --require --fail-fast --no-fail-fast --drop-slow --no-drop-slow --order --gather --fold --no-fold --prefix --no-prefix --shell --sudo --stdin --stderr --progress --size --json --report --connect-timeout --stall-timeout --lease --timeout --ssh --launcher --ssh-program --relay --persist -F --connects -o --agent --config -V --version -h --help) ;;
    doctor) candidates=(-v --verbose -q --quiet --no-quiet -p --port -H --hostname --data --transport --sudo --json --connect-timeout --ssh --launcher --ssh-program -F -o --agent --config -h --help) ;;
    bench) candidates=(-v --verbose -q --quiet --no-quiet -p --port -H --hostname --data --transport --jobs --streams --buffer --poll --no-poll --numa --congestion --sudo --size --rounds --json --report --connect-timeout --stall-timeout --lease --ssh --launcher --ssh-program --relay -F -o --agent --config -h --help) ;;
    copy) candidates=(-r --recursive -a --archive -A --acls -X --xattrs -x --one-file-system --delete --max-delete --exclude --include --exclude-from -c --checksum -u --update --verify --sync --no-sync --partial --no-partial --inplace --link-dest --mkpath --remove-source-files --files-from -0 --from0 -z -P -v --verbose -q --quiet --no-quiet -n --dry-run -p --port -H --hostname --data --transport --encrypt --compress --jobs --limit --streams --buffer --poll --no-poll --numa --congestion --sudo --progress --json --report --connect-timeout --stall-timeout --lease --timeout --ssh --launcher --ssh-program --relay --persist -F -o --agent --keyfile --config -V --version -h --help) ;;
  esac
}

# The values of an option, or <files>; fails where it takes none.
_rdpipe_values() {
  values=()
  case $1 in
    --max-delete) ;;
    --exclude) ;;
    --include) ;;
    --exclude-from) values=('<files>') ;;
    --link-dest) ;;
    --files-from) values=('<files>') ;;
    -p | --port) ;;
    -H | --hostname) ;;
    --data) ;;
    --transport) values=(auto rdma tcp) ;;
    --encrypt) values=(auto always auth never) ;;
    --compress) values=(none zstd) ;;
    --jobs) ;;
    --limit) values=(none) ;;
    --streams) values=(auto) ;;
    --buffer) ;;
    --numa) values=(auto off) ;;
    --congestion) values=(auto keep) ;;
    --ok) ;;
    --require) values=(all any) ;;
    --order) values=(written near) ;;
    --gather) values=(lines concat) ;;
    --shell) ;;
    --sudo) ;;
    --stdin) values=(auto none) ;;
    --stderr) values=(auto prefix raw off) ;;
    --progress) values=(auto live plain none) ;;
    --size) ;;
    --rounds) ;;
    --report) values=('<files>') ;;
    --connect-timeout) ;;
    --stall-timeout) ;;
    --lease) ;;
    --timeout) ;;
    --ssh) values=(auto openssh ssh2) ;;
    --launcher) values=(ssh slurm podman docker kubectl lxc) ;;
    --ssh-program) values=('<files>') ;;
    --relay) values=(auto never) ;;
    --persist) ;;
    -F) values=('<files>') ;;
    --connects) ;;
    -o) ;;
    --agent) ;;
    --keyfile) values=('<files>') ;;
    --config) values=('<files>') ;;
    *) return 1 ;;
  esac
}

_rdpipe_subcommands=(doctor bench demo help)
_rdpipe_topics=(rdpipe stages hosts launchers rdcp rdssh tools doctor bench demo rdsend rdrecv exit config environment completion)
# End of what is made.

complete -F _rdpipe rdpipe
complete -F _rdcp rdcp
