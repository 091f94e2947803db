/** The command line: options up to the first stage, then stages. Nothing is printed here. */
import { Command, CommanderError, Option } from 'commander';
import { UsageError } from '../model/errors.ts';
import { VERSION } from '../model/version.ts';
import { decode, forMessage } from './binary.ts';
import { adviceFor } from './habits.ts';
import { helpText } from './help.ts';
import { BENCH_OPTION_TABLE, DOCTOR_OPTION_TABLE, OPTION_TABLE, type OptionRow, type Options } from './options.ts';

export type { Options } from './options.ts';

export type Invocation =
  | {
      readonly kind: 'run';
      readonly options: Options;
      /** The words before the first stage, for pictures of the command line. */
      readonly optionWords: readonly string[];
      readonly stageWords: readonly string[];
    }
  /** For standard output, with exit status 0. */
  | { readonly kind: 'help' | 'version'; readonly text: string }
  | { readonly kind: 'demo'; readonly words: readonly string[] }
  | { readonly kind: 'doctor' | 'bench'; readonly options: Options; readonly hostWords: readonly string[] };

/**
 * Reads the words after the program's name: binary strings, as `readRawArgv` gives them.
 * @throws UsageError
 */
export function parseArgv(words: readonly string[]): Invocation {
  const { options, rest } = parseOptions(words, RDPIPE);
  const optionWords = words.slice(0, words.length - rest.length);
  if (options.version === true && options.help !== true) return { kind: 'version', text: `rdpipe ${VERSION}\n` };
  if (rest[0] === 'doctor' || rest[0] === 'bench') return parseOnHosts(rest[0], [...optionWords, ...rest.slice(1)]);
  if (rest[0] === 'demo') return parseDemo(rest.slice(1), options);
  if (rest[0] === 'help') return { kind: 'help', text: helpText(rest.slice(1)) };
  if (options.help === true) return { kind: 'help', text: helpText([]) };
  checkTogether(options);
  return { kind: 'run', options, optionWords, stageWords: rest };
}

function parseDemo(words: readonly string[], { help }: Options): Invocation {
  const wantsHelp = help === true || words.some((word) => word === '-h' || word === '--help');
  return wantsHelp ? { kind: 'help', text: helpText(['demo']) } : { kind: 'demo', words };
}

/** Here options may also stand behind hosts. */
function parseOnHosts(kind: 'doctor' | 'bench', words: readonly string[]): Invocation {
  const { options, rest } = parseOptions(words, kind === 'doctor' ? DOCTOR : BENCH);
  if (options.help === true) return { kind: 'help', text: helpText([kind]) };
  checkTogether(options);
  return { kind, options, hostWords: rest };
}

/** A program as it is typed, and its options. */
interface Grammar {
  readonly name: string;
  readonly table: readonly OptionRow[];
  /** What follows the first word that is no option is not looked at. */
  readonly endsAtFirstWord: boolean;
}

const RDPIPE: Grammar = { name: 'rdpipe', table: OPTION_TABLE, endsAtFirstWord: true };
const DOCTOR: Grammar = { name: 'rdpipe doctor', table: DOCTOR_OPTION_TABLE, endsAtFirstWord: false };
const BENCH: Grammar = { name: 'rdpipe bench', table: BENCH_OPTION_TABLE, endsAtFirstWord: false };

interface Parsed {
  readonly options: Options;
  readonly rest: readonly string[];
}

function parseOptions(words: readonly string[], grammar: Grammar): Parsed {
  const command = makeCommand(grammar);
  try {
    command.parse(words, { from: 'user' });
  } catch (error) {
    throw error instanceof CommanderError
      ? new UsageError(inWords(error.message.replace(/^error: /, ''), grammar))
      : error;
  }
  const [first = ''] = command.args;
  // To commander a number that is negative is a word.
  if (/^-\d/.test(first) && words[words.length - command.args.length - 1] !== '--')
    throw new UsageError(inWords(`unknown option '${first}'`, grammar));
  return { options: command.opts<Options>(), rest: command.args };
}

/** commander without its habits: it prints nothing, ends nothing, and looks at no stream of this process. */
function makeCommand({ name, table, endsAtFirstWord }: Grammar): Command {
  const command = new Command(name)
    .argument('[word...]')
    .passThroughOptions(endsAtFirstWord)
    .helpOption(false)
    .exitOverride()
    .configureOutput({ writeOut: () => {}, writeErr: () => {}, outputError: () => {} });
  for (const row of table) command.addOption(makeOption(row));
  return command;
}

function makeOption(row: OptionRow): Option {
  const names = [row.short, row.long].filter((name) => name !== undefined).join(', ');
  const option = new Option(row.value === undefined ? names : `${names} <value>`);
  if (row.counts === true) return option.argParser((_: string, before: unknown) => Number(before ?? 0) + 1);
  const { read } = row;
  if (read === undefined) return option;
  return option.argParser((text: string, before: unknown) => readNamed(row.long ?? names, read, text, before));
}

/** Reads a value; a mistake names the option. */
function readNamed(name: string, read: NonNullable<OptionRow['read']>, text: string, before: unknown): unknown {
  const decoded = decode(text);
  if (decoded === undefined) throw new UsageError(`${name}: '${forMessage(text)}' is not valid UTF-8`);
  try {
    return read(decoded, before);
  } catch (error) {
    throw error instanceof UsageError ? new UsageError(`${name}: ${error.message}`) : error;
  }
}

function inWords(said: string, { name }: Grammar): string {
  const message = said.replace(/\n/g, ' ');
  const [, option = ''] = /^unknown option '(-[^-].*)'/.exec(message) ?? [];
  const advice = adviceFor(option);
  return `${forMessage(message)} (${advice === undefined ? '' : `${advice}; `}${name} --help shows the options)`;
}

function checkTogether(options: Options): void {
  if (options.quiet === true && options.verbose !== undefined)
    throw new UsageError('--quiet and --verbose exclude each other');
}
