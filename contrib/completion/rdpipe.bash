# SPDX-License-Identifier: Apache-2.0
# Completion of rdpipe and rdcp for bash, made from the table of options by npm run fix.

_rdpipe_hosts() {
  local config=~/.ssh/config
  [ -r "$config" ] && sed -n 's/^[[:space:]]*[Hh][Oo][Ss][Tt][[:space:]=]\+//p' "$config" | tr ' \t' '\n\n' | grep -v '[*?!]'
}

# Options and values of a topic: sets words, or completes a file and is done.
_rdpipe_value() {
  case $1:$2 in
    run:-p | run:--port) echo '' ;;
    run:-H | run:--hostname) echo '' ;;
    run:--data) echo '' ;;
    run:--transport) echo 'auto rdma tcp' ;;
    run:--encrypt) echo 'auto always auth never' ;;
    run:--compress) echo '' ;;
    run:--jobs) echo '' ;;
    run:--limit) echo '' ;;
    run:--buffer) echo '' ;;
    run:--numa) echo 'auto off' ;;
    run:--ok) echo '' ;;
    run:--shell) echo '' ;;
    run:--sudo) echo '' ;;
    run:--stdin) echo 'auto none' ;;
    run:--stderr) echo 'auto prefix raw off' ;;
    run:--progress) echo 'auto live plain none' ;;
    run:--size) echo '' ;;
    run:--report) echo '<files>' ;;
    run:--connect-timeout) echo '' ;;
    run:--stall-timeout) echo '' ;;
    run:--lease) echo '' ;;
    run:--timeout) echo '' ;;
    run:--ssh) echo 'auto openssh ssh2' ;;
    run:--ssh-program) echo '<files>' ;;
    run:--persist) echo '' ;;
    run:-F) echo '<files>' ;;
    run:-o) echo '' ;;
    run:--agent) echo '' ;;
    run:--config) echo '<files>' ;;
    doctor:-p | doctor:--port) echo '' ;;
    doctor:-H | doctor:--hostname) echo '' ;;
    doctor:--data) echo '' ;;
    doctor:--transport) echo 'auto rdma tcp' ;;
    doctor:--sudo) echo '' ;;
    doctor:--connect-timeout) echo '' ;;
    doctor:--ssh) echo 'auto openssh ssh2' ;;
    doctor:--ssh-program) echo '<files>' ;;
    doctor:-F) echo '<files>' ;;
    doctor:-o) echo '' ;;
    doctor:--agent) echo '' ;;
    doctor:--config) echo '<files>' ;;
    bench:-p | bench:--port) echo '' ;;
    bench:-H | bench:--hostname) echo '' ;;
    bench:--data) echo '' ;;
    bench:--transport) echo 'auto rdma tcp' ;;
    bench:--jobs) echo '' ;;
    bench:--buffer) echo '' ;;
    bench:--numa) echo 'auto off' ;;
    bench:--sudo) echo '' ;;
    bench:--size) echo '' ;;
    bench:--rounds) echo '' ;;
    bench:--report) echo '<files>' ;;
    bench:--connect-timeout) echo '' ;;
    bench:--stall-timeout) echo '' ;;
    bench:--lease) echo '' ;;
    bench:--ssh) echo 'auto openssh ssh2' ;;
    bench:--ssh-program) echo '<files>' ;;
    bench:-F) echo '<files>' ;;
    bench:-o) echo '' ;;
    bench:--agent) echo '' ;;
    bench:--config) echo '<files>' ;;
    copy:--max-delete) echo '' ;;
    copy:--exclude) echo '' ;;
    copy:--include) echo '' ;;
    copy:--exclude-from) echo '<files>' ;;
    copy:--files-from) echo '<files>' ;;
    copy:-p | copy:--port) echo '' ;;
    copy:-H | copy:--hostname) echo '' ;;
    copy:--data) echo '' ;;
    copy:--transport) echo 'auto rdma tcp' ;;
    copy:--encrypt) echo 'auto always auth never' ;;
    copy:--compress) echo '' ;;
    copy:--jobs) echo '' ;;
    copy:--limit) echo '' ;;
    copy:--buffer) echo '' ;;
    copy:--numa) echo 'auto off' ;;
    copy:--sudo) echo '' ;;
    copy:--progress) echo 'auto live plain none' ;;
    copy:--report) echo '<files>' ;;
    copy:--connect-timeout) echo '' ;;
    copy:--stall-timeout) echo '' ;;
    copy:--lease) echo '' ;;
    copy:--timeout) echo '' ;;
    copy:--ssh) echo 'auto openssh ssh2' ;;
    copy:--ssh-program) echo '<files>' ;;
    copy:--persist) echo '' ;;
    copy:-F) echo '<files>' ;;
    copy:-o) echo '' ;;
    copy:--agent) echo '' ;;
    copy:--keyfile) echo '<files>' ;;
    copy:--config) echo '<files>' ;;
    *) return 1 ;;
  esac
}

_rdpipe_options() {
  case $1 in
    run) echo '-v --verbose -q --quiet --no-quiet -n --dry-run -p --port -H --hostname --data --transport --encrypt --compress --jobs --limit --buffer --poll --no-poll --numa --ok --lenient --no-lenient --shell --sudo --stdin --stderr --progress --size --json --report --connect-timeout --stall-timeout --lease --timeout --ssh --ssh-program --persist -F -o --agent --config -V --version -h --help' ;;
    doctor) echo '-v --verbose -q --quiet --no-quiet -p --port -H --hostname --data --transport --sudo --json --connect-timeout --ssh --ssh-program -F -o --agent --config -h --help' ;;
    bench) echo '-v --verbose -q --quiet --no-quiet -p --port -H --hostname --data --transport --jobs --buffer --poll --no-poll --numa --sudo --size --rounds --json --report --connect-timeout --stall-timeout --lease --ssh --ssh-program -F -o --agent --config -h --help' ;;
    copy) echo '-r --recursive -a --archive -A --acls -X --xattrs -x --one-file-system --delete --max-delete --exclude --include --exclude-from -c --checksum --verify --partial --no-partial --inplace --mkpath --remove-source-files --files-from -0 --from0 -v --verbose -q --quiet --no-quiet -n --dry-run -p --port -H --hostname --data --transport --encrypt --compress --jobs --limit --buffer --poll --no-poll --numa --sudo --progress --json --report --connect-timeout --stall-timeout --lease --timeout --ssh --ssh-program --persist -F -o --agent --keyfile --config -V --version -h --help' ;;
  esac
}

_rdpipe_complete() {
  local topic=$1 current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]} words
  COMPREPLY=()
  if words=$(_rdpipe_value "$topic" "$previous"); then
    if [ "$words" = '<files>' ]; then mapfile -t COMPREPLY < <(compgen -f -- "$current")
    else mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current"); fi
    return
  fi
  case $current in
    -*) mapfile -t COMPREPLY < <(compgen -W "$(_rdpipe_options "$topic")" -- "$current"); return ;;
  esac
  local suffix=:
  case $topic in doctor | bench) suffix= ;; esac
  mapfile -t COMPREPLY < <(compgen -W "$(_rdpipe_hosts | sed "s/$/$suffix/")" -- "$current")
  if [ "$topic" = copy ]; then
    local paths
    mapfile -t paths < <(compgen -f -- "${current##*:}")
    case $current in *:*) ;; *) COMPREPLY+=("${paths[@]}") ;; esac
  elif [ "$topic" = run ] && [ "$COMP_CWORD" = 1 ]; then
    mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -W 'doctor bench demo help' -- "$current")
  fi
  case ${COMPREPLY[0]} in *:) compopt -o nospace 2>/dev/null ;; esac
}

_rdpipe() {
  case ${COMP_WORDS[1]} in
    doctor | bench) _rdpipe_complete "${COMP_WORDS[1]}" ;;
    *) _rdpipe_complete run ;;
  esac
}

_rdcp() { _rdpipe_complete copy; }

complete -F _rdpipe rdpipe
complete -o filenames -F _rdcp rdcp
