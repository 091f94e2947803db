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
 * The help for a topic; without words, the list of topics.
 * @throws UsageError for an unknown topic or several words.
 */
export function helpText(words: readonly string[]): string {
  const [name, ...more] = words;
  if (name === undefined) return topicList();
  const topic = HELP_TOPICS.get(name);
  if (topic === undefined || more.length > 0) {
    const advice = more.length > 0 ? 'name one topic' : meant(name);
    const asked = forMessage(words.join(' '));
    throw new UsageError(`there is no help for '${asked}' (${advice}; rdpipe help lists the topics)`);
  }
  return topic.text();
}

interface HelpTopic {
  /** The description in the list and in completion. */
  readonly phrase: string;
  readonly text: () => string;
}

/** Topics in the order of `rdpipe help`; completion and manual use them also. */
export const HELP_TOPICS: ReadonlyMap<string, HelpTopic> = new Map([
  ['rdpipe', { phrase: 'run pipelines: usage and options', text: () => withOptions(texts.HEAD, 'run', texts.TAIL) }],
  ['stages', { phrase: 'how to write stages: commands, files, quotes', text: () => texts.STAGES }],
  ['hosts', { phrase: 'how to name hosts, and how rdpipe reaches them', text: () => texts.HOSTS }],
  ['launchers', { phrase: 'hosts without ssh: Slurm, containers, any command', text: () => texts.LAUNCHERS }],
  [
    'rdcp',
    {
      phrase: 'copy files and directories: usage and options',
      text: () => withOptions(texts.COPY_HEAD, 'copy', texts.COPY_TAIL),
    },
  ],
  [
    'rdssh',
    {
      phrase: 'run rsync, git and other tools over RDMA or TCP',
      text: () => withOptions(texts.SSH_HEAD, 'ssh', texts.SSH_TAIL),
    },
  ],
  ['tools', { phrase: 'lines for rsync, git, borg and other tools', text: () => texts.TOOLS }],
  [
    'doctor',
    {
      phrase: 'find problems on hosts and between them',
      text: () => withOptions(texts.DOCTOR_HEAD, 'doctor', texts.DOCTOR_TAIL),
    },
  ],
  [
    'bench',
    {
      phrase: 'measure the speed between two hosts',
      text: () => withOptions(texts.BENCH_HEAD, 'bench', texts.BENCH_TAIL),
    },
  ],
  ['demo', { phrase: 'try pipelines between two temporary hosts', text: () => texts.DEMO }],
  ['rdsend', { phrase: 'send a stream without ssh', text: () => texts.WITHOUT_SSH }],
  ['rdrecv', { phrase: 'receive a stream without ssh', text: () => texts.WITHOUT_SSH }],
  ['exit', { phrase: 'exit statuses', text: () => texts.EXIT }],
  ['config', { phrase: 'the configuration file', text: () => texts.CONFIG }],
  ['environment', { phrase: 'environment variables', text: () => texts.ENVIRONMENT }],
  ['completion', { phrase: 'Tab completion in bash, zsh and fish', text: () => texts.COMPLETION }],
]);

function topicList(): string {
  const lines = [...HELP_TOPICS].map(([name, { phrase }]) => `  ${name.padEnd(13)}${phrase}`);
  return [texts.LIST_HEAD, ...lines, '', texts.LIST_TAIL].join('\n');
}

function meant(name: string): string {
  const near = nearest(name.toLowerCase(), [...HELP_TOPICS.keys()]);
  return near === undefined ? 'no such topic' : `did you mean ${near}?`;
}

function withOptions(head: string, topic: Topic, tail: string): string {
  const rows = optionsOf(topic).map(([, row]) => row);
  const brief = rows.filter((row) => row.brief === true).map((row) => namesOf(row).replaceAll(' ', NO_BREAK));
  const lines = rows.filter((row) => row.brief !== true).flatMap(optionLines);
  return [head, 'Options:', ...lines, ...briefLines(brief), '', tail].join('\n');
}

/** Options that only the manual explains. */
function briefLines(names: readonly string[]): readonly string[] {
  if (names.length === 0) return [];
  const lines = wrap(names.join(', '), WIDTH - 2).map((line) => `  ${line.replaceAll(NO_BREAK, ' ')}`);
  return ['More options, described in the manual (most work as in rdpipe):', ...lines];
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

/** The help with bounds and default: `keep up to SIZE of data in flight (64KiB to 1GiB; default: 8MiB)`. */
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
