/** The texts of --help, at most 80 columns wide, made from the option table. */
import { UsageError } from '../model/errors.ts';
import { flagTexts, type OptionRow, valueText } from '../model/option-row.ts';
import { optionsOf, type Topic } from '../model/options.ts';
import { forMessage } from './binary-string.ts';
import * as texts from './help-texts.ts';
import { nearest } from './nearest.ts';

const WIDTH = 80;
const INDENT = 27;

/**
 * The help for a topic; without one the list of them.
 * @throws UsageError
 */
export function helpText(words: readonly string[]): string {
  const [name, ...more] = words;
  if (name === undefined) return topicList();
  const topic = HELP_TOPICS.get(name);
  if (topic === undefined || more.length > 0) {
    const advice = more.length > 0 ? 'name one topic' : meant(name);
    throw new UsageError(`there is no help for '${forMessage(words.join(' '))}' (${advice}; rdpipe help lists all)`);
  }
  return topic.text();
}

interface HelpTopic {
  /** For the list and for completion. */
  readonly phrase: string;
  readonly text: () => string;
}

/** In the order in which `rdpipe help` lists them; completion and manual have them from here, too. */
export const HELP_TOPICS: ReadonlyMap<string, HelpTopic> = new Map([
  ['rdpipe', { phrase: 'pipelines: usage and options', text: () => withOptions(texts.HEAD, 'run', texts.TAIL) }],
  ['stages', { phrase: 'what a stage may be: commands, files, quotes', text: () => texts.STAGES }],
  ['hosts', { phrase: 'how hosts are written, reached and named', text: () => texts.HOSTS }],
  ['rdcp', { phrase: 'copies of files and trees', text: () => withOptions(texts.COPY_HEAD, 'copy', texts.COPY_TAIL) }],
  [
    'rdssh',
    { phrase: "ssh's command line for other tools", text: () => withOptions(texts.SSH_HEAD, 'ssh', texts.SSH_TAIL) },
  ],
  [
    'doctor',
    {
      phrase: 'find problems of hosts, and between them',
      text: () => withOptions(texts.DOCTOR_HEAD, 'doctor', texts.DOCTOR_TAIL),
    },
  ],
  [
    'bench',
    {
      phrase: 'measure the ways between two hosts',
      text: () => withOptions(texts.BENCH_HEAD, 'bench', texts.BENCH_TAIL),
    },
  ],
  ['demo', { phrase: 'two throwaway hosts, and pipelines between them', text: () => texts.DEMO }],
  ['rdsend', { phrase: 'a stream without ssh: its sender', text: () => texts.WITHOUT_SSH }],
  ['rdrecv', { phrase: 'a stream without ssh: its receiver', text: () => texts.WITHOUT_SSH }],
  ['exit', { phrase: 'exit statuses', text: () => texts.EXIT }],
  ['config', { phrase: 'defaults in a file', text: () => texts.CONFIG }],
  ['environment', { phrase: 'variables that are read', text: () => texts.ENVIRONMENT }],
  ['completion', { phrase: 'Tab in bash, zsh and fish', text: () => texts.COMPLETION }],
]);

function topicList(): string {
  const lines = [...HELP_TOPICS].map(([name, { phrase }]) => `  ${name.padEnd(13)}${phrase}`);
  return [texts.LIST_HEAD, ...lines, '', texts.LIST_TAIL].join('\n');
}

function meant(name: string): string {
  const near = nearest(name.toLowerCase(), [...HELP_TOPICS.keys()]);
  return near === undefined ? 'no topic has such a name' : `did you mean ${near}?`;
}

function withOptions(head: string, topic: Topic, tail: string): string {
  const rows = optionsOf(topic).map(([, row]) => row);
  const brief = rows.filter((row) => row.brief === true).map((row) => namesOf(row).replaceAll(' ', NO_BREAK));
  const lines = rows.filter((row) => row.brief !== true).flatMap(optionLines);
  return [head, 'Options:', ...lines, ...briefLines(brief), '', tail].join('\n');
}

/** Options that the manual explains. */
function briefLines(names: readonly string[]): readonly string[] {
  if (names.length === 0) return [];
  const lines = wrap(names.join(', '), WIDTH - 2).map((line) => `  ${line.replaceAll(NO_BREAK, ' ')}`);
  return ['The manual describes these, most of them as for rdpipe:', ...lines];
}

export const NO_BREAK = '\u00a0';

function optionLines(row: OptionRow): readonly string[] {
  const flags = `  ${flagsOf(row)}`;
  const lines = wrap(helpOf(row), WIDTH - INDENT).map((line) => ' '.repeat(INDENT) + line);
  const fits = flags.length < INDENT - 1;
  return fits ? [flags + (lines[0] ?? '').slice(flags.length), ...lines.slice(1)] : [flags, ...lines];
}

function flagsOf(row: OptionRow): string {
  return `${row.short === undefined ? '    ' : ''}${namesOf(row)}`;
}

/** `-p, --port PORT[-PORT]`. */
function namesOf(row: OptionRow): string {
  const names = flagTexts(row).join(', ');
  const value = valueText(row);
  return value === undefined ? names : `${names} ${value}`;
}

/** With bounds and default: `a hop's window (64KiB to 1GiB; default: 8MiB)`. */
function helpOf({ help, least, most, default: value, unset = value }: OptionRow): string {
  const bounds = most === undefined ? `at least ${least}` : `${least} to ${most}`;
  const notes = [...(least === undefined ? [] : [bounds]), ...(unset === undefined ? [] : [`default: ${unset}`])];
  return notes.length === 0 ? help : `${help} (${notes.join('; ')})`;
}

/** Lines of at most `width`, broken at blanks. */
export function wrap(text: string, width: number): readonly string[] {
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + 1 + word.length <= width) lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines;
}
