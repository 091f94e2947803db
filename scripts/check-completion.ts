// SPDX-License-Identifier: Apache-2.0
// Compares the completions of bash, zsh and fish with the tables of options and of help; --fix updates them.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isNegatable, type OptionRow, takesValue } from '../packages/rdpipe/src/model/option-row.ts';
import { OPTION_ROWS, optionsOf, type Topic } from '../packages/rdpipe/src/model/options.ts';
import { HELP_TOPICS } from '../packages/rdpipe/src/parse/help.ts';
import { LAUNCHER_NAMES } from '../packages/rdpipe/src/parse/launcher.ts';

const DIRECTORY = join(import.meta.dirname, '..', 'contrib/completion');
const TOPICS: readonly Topic[] = ['run', 'doctor', 'bench', 'copy'];
const MADE = /(?<=\n# Made by npm run fix:\n).*(?=# End of what is made\.\n)/s;

/** The words that may come first, besides stages. */
const SUBCOMMANDS = new Map([
  ...['doctor', 'bench', 'demo'].map((name) => [name, HELP_TOPICS.get(name)?.phrase ?? ''] as const),
  ['help', 'explain a topic'],
]);
const TOPIC_PHRASES = new Map([...HELP_TOPICS].map(([name, { phrase }]) => [name, phrase]));

for (const [name, made] of [
  ['rdpipe.bash', bashPart()],
  ['_rdpipe', zshPart()],
  ['rdpipe.fish', fishPart()],
] as const) {
  const path = join(DIRECTORY, name);
  const text = readFileSync(path, 'utf8');
  const wanted = text.replace(MADE, () => `${made}\n`);
  if (process.argv.includes('--fix')) writeFileSync(path, wanted);
  else if (text !== wanted) {
    console.error(`contrib/completion/${name}: differs from the tables of options and of help (npm run fix)`);
    process.exitCode = 1;
  }
}

function rowsOf(topic: Topic): readonly OptionRow[] {
  return optionsOf(topic).map(([, row]) => row);
}

function flagsOf(row: OptionRow): readonly string[] {
  return [row.short, row.long].filter((flag) => flag !== undefined);
}

function negationOf(row: OptionRow): readonly string[] {
  return isNegatable(row) ? [`${row.long}`.replace('--', '--no-')] : [];
}

/** The words that a value may be, or `files`; empty if it may be any word. */
function valuesOf({ choices, kind }: OptionRow): readonly string[] | 'files' {
  if (choices !== undefined) return choices;
  if (kind === 'compression') return ['none', 'zstd'];
  if (kind === 'launcher') return LAUNCHER_NAMES;
  if (kind === 'relay') return ['auto', 'never'];
  if (kind === 'enough') return ['all', 'any'];
  if (kind === 'rate') return ['none'];
  if (kind === 'numberOrAuto') return ['auto'];
  return ['file', 'program', 'excludeFrom'].includes(kind) ? 'files' : [];
}

/** True if an option may be repeated: it counts, or each is for one host. */
function repeats(row: OptionRow): boolean {
  return row.repeats === true || row.kind === 'count' || row.flagHost !== undefined;
}

/** Values need no topic: a flag has the same kind of value in every subcommand. */
function bashPart(): string {
  const names = TOPICS.map((topic) => `    ${topic}) candidates=(${rowsOf(topic).flatMap(allFlags).join(' ')}) ;;`);
  return `_rdpipe_options() {
  case $1 in
${names.join('\n')}
  esac
}

# The values of an option, or <files>; fails where it takes none.
_rdpipe_values() {
  values=()
  case $1 in
${OPTION_ROWS.flatMap(([, row]) => bashValues(row)).join('\n')}
    *) return 1 ;;
  esac
}

_rdpipe_subcommands=(${[...SUBCOMMANDS.keys()].join(' ')})
_rdpipe_topics=(${[...HELP_TOPICS.keys()].join(' ')})`;
}

function allFlags(row: OptionRow): readonly string[] {
  return [...flagsOf(row), ...negationOf(row)];
}

function bashValues(row: OptionRow): readonly string[] {
  if (!takesValue(row)) return [];
  const values = valuesOf(row);
  const words = values === 'files' ? "'<files>'" : values.join(' ');
  return [`    ${flagsOf(row).join(' | ')}) ${words === '' ? '' : `values=(${words}) `};;`];
}

function zshPart(): string {
  const sets = TOPICS.map(
    (topic) => `_rdpipe_${topic}_options=(\n  ${rowsOf(topic).flatMap(zshSpecs).join('\n  ')}\n)`,
  );
  return `local -a _rdpipe_run_options _rdpipe_doctor_options _rdpipe_bench_options _rdpipe_copy_options
local -a _rdpipe_subcommands _rdpipe_topics
${sets.join('\n')}
_rdpipe_subcommands=(
${zshPhrases(SUBCOMMANDS)}
)
_rdpipe_topics=(
${zshPhrases(TOPIC_PHRASES)}
)`;
}

function zshPhrases(words: ReadonlyMap<string, string>): string {
  return [...words].map(([name, phrase]) => `  '${name}:${quoted(phrase)}'`).join('\n');
}

/** `'(-q --quiet)'{-q,--quiet}'[help]'`. */
function zshSpecs(row: OptionRow): readonly string[] {
  const help = quoted(row.help.replace(/[[\]:]/g, '\\$&'));
  const flags = flagsOf(row).map((flag) => `${flag}${takesValue(row) ? (flag.startsWith('--') ? '=' : '+') : ''}`);
  const exclusive = repeats(row) ? "'*'" : flags.length > 1 ? `'(${flagsOf(row).join(' ')})'` : '';
  const names = flags.length > 1 ? `{${flags.join(',')}}` : flags.join('');
  const negation = negationOf(row).map((flag) => `${flag}'[the opposite of ${row.long}]'`);
  return [`${exclusive}${names}'[${help}]${zshValue(row)}'`, ...negation];
}

function zshValue(row: OptionRow): string {
  if (!takesValue(row)) return '';
  const values = valuesOf(row);
  if (values === 'files') return ':file:_files';
  const name = (row.value ?? 'value').toLowerCase().replace(/[[\]:]/g, '\\$&');
  return values.length === 0 ? `:${name}: ` : `:${name}:(${values.join(' ')})`;
}

function fishPart(): string {
  const rows = OPTION_ROWS.flatMap(([name]) => fishLines(name));
  const words = (place: string, phrases: ReadonlyMap<string, string>) =>
    [...phrases].map(([name, text]) => `complete -c rdpipe -n '${place}' -a ${name} -d '${fishQuoted(text)}'`);
  return [...rows, ...words('__rdpipe_in run', SUBCOMMANDS), ...words('__rdpipe_in help', TOPIC_PHRASES)].join('\n');
}

/** A line for each help text of the option, which may differ between subcommands. */
function fishLines(name: string): readonly string[] {
  const rows = TOPICS.flatMap((topic) =>
    optionsOf(topic).flatMap(([other, row]) => (other === name ? [{ topic, row }] : [])),
  );
  const texts = new Set(rows.map(({ row }) => row.help));
  return [...texts].flatMap((text) => {
    const same = rows.filter(({ row }) => row.help === text);
    const topics = same.flatMap(({ topic }) => (topic === 'copy' ? [] : [topic]));
    const [row] = same.map((one) => one.row);
    if (row === undefined) return [];
    const ofRdpipe = topics.length > 0 ? fishOption(`-c rdpipe -n '__rdpipe_in ${topics.join(' ')}'`, row) : [];
    return [...ofRdpipe, ...(same.length > topics.length ? fishOption('-c rdcp', row) : [])];
  });
}

function fishOption(command: string, row: OptionRow): readonly string[] {
  const short = row.short === undefined ? '' : ` -s ${row.short.slice(1)}`;
  const long = row.long === undefined ? '' : ` -l ${row.long.slice(2)}`;
  const negation = negationOf(row).map((flag) => `complete ${command} -l ${flag.slice(2)} -d 'the opposite'`);
  return [`complete ${command}${short}${long}${fishValue(row)} -d '${fishQuoted(row.help)}'`, ...negation];
}

function fishValue(row: OptionRow): string {
  if (!takesValue(row)) return '';
  const values = valuesOf(row);
  if (values === 'files') return ' -r -F';
  return values.length === 0 ? ' -x' : ` -x -a '${values.join(' ')}'`;
}

function quoted(text: string): string {
  return text.replaceAll("'", "'\\''");
}

function fishQuoted(text: string): string {
  return text.replace(/['\\]/g, '\\$&');
}
