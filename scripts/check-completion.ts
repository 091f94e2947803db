// SPDX-License-Identifier: Apache-2.0
// Makes the completion files of bash and zsh from the table of options; without --fix it compares them.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isNegatable, type OptionRow, takesValue } from '../packages/rdpipe/src/model/option-row.ts';
import { optionsOf, type Topic } from '../packages/rdpipe/src/model/options.ts';

const FOLDER = join(import.meta.dirname, '..', 'contrib/completion');
const TOPICS: readonly Topic[] = ['run', 'doctor', 'bench', 'copy'];

const files = new Map([
  ['rdpipe.bash', bashFile()],
  ['_rdpipe', zshFile()],
]);
for (const [name, text] of files) {
  const path = join(FOLDER, name);
  if (process.argv.includes('--fix')) writeFileSync(path, text);
  else if (readFileSync(path, 'utf8') !== text) {
    console.error(`contrib/completion/${name}: differs from model/options.ts (npm run fix)`);
    process.exitCode = 1;
  }
}

function rowsOf(topic: Topic): readonly OptionRow[] {
  return optionsOf(topic).map(([, row]) => row);
}

function flagsOf(row: OptionRow): readonly string[] {
  const flags = [row.short, row.long].filter((flag) => flag !== undefined);
  return isNegatable(row) ? [...flags, `${row.long}`.replace('--', '--no-')] : flags;
}

/** The words that a value may be: of choices; an empty list: any; 'files'. */
function valuesOf({ choices, kind }: OptionRow): readonly string[] | 'files' {
  if (choices !== undefined) return choices;
  return ['file', 'program', 'excludeFrom'].includes(kind) ? 'files' : [];
}

function bashFile(): string {
  return `# SPDX-License-Identifier: Apache-2.0
# Completion of rdpipe and rdcp for bash, made from the table of options by npm run fix.

_rdpipe_hosts() {
  local config=~/.ssh/config
  [ -r "$config" ] && sed -n 's/^[[:space:]]*[Hh][Oo][Ss][Tt][[:space:]=]\\+//p' "$config" | tr ' \\t' '\\n\\n' | grep -v '[*?!]'
}

# Options and values of a topic: sets words, or completes a file and is done.
_rdpipe_value() {
  case $1:$2 in
${TOPICS.flatMap((topic) => rowsOf(topic).flatMap((row) => bashValue(topic, row))).join('\n')}
    *) return 1 ;;
  esac
}

_rdpipe_options() {
  case $1 in
${TOPICS.map((topic) => `    ${topic}) echo '${rowsOf(topic).flatMap(flagsOf).join(' ')}' ;;`).join('\n')}
  esac
}

_rdpipe_complete() {
  local topic=$1 current=\${COMP_WORDS[COMP_CWORD]} previous=\${COMP_WORDS[COMP_CWORD-1]} words
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
    mapfile -t paths < <(compgen -f -- "\${current##*:}")
    case $current in *:*) ;; *) COMPREPLY+=("\${paths[@]}") ;; esac
  elif [ "$topic" = run ] && [ "$COMP_CWORD" = 1 ]; then
    mapfile -t -O "\${#COMPREPLY[@]}" COMPREPLY < <(compgen -W 'doctor bench demo help' -- "$current")
  fi
  case \${COMPREPLY[0]} in *:) compopt -o nospace 2>/dev/null ;; esac
}

_rdpipe() {
  case \${COMP_WORDS[1]} in
    doctor | bench) _rdpipe_complete "\${COMP_WORDS[1]}" ;;
    *) _rdpipe_complete run ;;
  esac
}

_rdcp() { _rdpipe_complete copy; }

complete -F _rdpipe rdpipe
complete -o filenames -F _rdcp rdcp
`;
}

function bashValue(topic: Topic, row: OptionRow): readonly string[] {
  if (!takesValue(row)) return [];
  const flags = [row.short, row.long].filter((flag) => flag !== undefined);
  const values = valuesOf(row);
  const words = values === 'files' ? "echo '<files>'" : `echo '${values.join(' ')}'`;
  return [`    ${flags.map((flag) => `${topic}:${flag}`).join(' | ')}) ${words} ;;`];
}

function zshFile(): string {
  const specs = (topic: Topic) => rowsOf(topic).flatMap(zshSpecs);
  const call = (topic: Topic, rest: string) => `_arguments -S -s ${[...specs(topic), rest].join(' \\\n    ')}`;
  return `#compdef rdpipe rdcp
# SPDX-License-Identifier: Apache-2.0
# Completion of rdpipe and rdcp for zsh, made from the table of options by npm run fix.

_rdpipe_places() {
  if compset -P '*:'; then return 1; fi
  _alternative 'files:file:_files' 'hosts:host:_hosts -S :'
}

_rdpipe_stages() {
  if compset -P '*:'; then return 1; fi
  _alternative 'commands:command:(doctor bench demo help)' 'hosts:host:_hosts -S :'
}

if [[ $service = rdcp ]]; then
  ${call('copy', "'*:path:_rdpipe_places'")}
elif [[ $words[2] = doctor ]]; then
  ${call('doctor', "'*:host:_hosts'")}
elif [[ $words[2] = bench ]]; then
  ${call('bench', "'*:host:_hosts'")}
else
  ${call('run', "'*:stage:_rdpipe_stages'")}
fi
`;
}

/** `'(-q --quiet)'{-q,--quiet}'[help]'`. */
function zshSpecs(row: OptionRow): readonly string[] {
  const flags = [row.short, row.long].filter((flag) => flag !== undefined);
  const help = quoted(row.help.replace(/[[\]:]/g, '\\$&'));
  const repeats = row.repeats === true || row.kind === 'count' || row.flagHost !== undefined;
  const exclusive = repeats ? '\\*' : flags.length > 1 ? `'(${flags.join(' ')})'` : '';
  const names = flags.length > 1 ? `{${flags.join(',')}}` : flags.join('');
  const negation = isNegatable(row) ? [`${`${row.long}`.replace('--', '--no-')}'[the opposite]'`] : [];
  return [`${exclusive}${names}'[${help}]${zshValue(row)}'`, ...negation];
}

function zshValue(row: OptionRow): string {
  if (!takesValue(row)) return '';
  const values = valuesOf(row);
  if (values === 'files') return ':file:_files';
  return values.length === 0 ? ':value: ' : `:value:(${values.join(' ')})`;
}

function quoted(text: string): string {
  return text.replaceAll("'", "'\\''");
}
