/** The command line: options up to the first stage, then stages. Nothing is printed here. */
import { Command, CommanderError, Option } from 'commander';
import { UsageError } from '../model/errors.ts';
import { VERSION } from '../model/version.ts';
import { decode, forMessage } from './binary.ts';
import { helpText } from './help.ts';
import { OPTION_TABLE, type OptionRow, type Options } from './options.ts';

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
  | { readonly kind: 'demo'; readonly words: readonly string[] };

/**
 * Reads the words after the program's name: binary strings, as `readRawArgv` gives them.
 * @throws UsageError
 */
export function parseArgv(words: readonly string[]): Invocation {
  const { options, rest } = parseOptions(words);
  if (options.help === true) return { kind: 'help', text: helpText() };
  if (options.version === true) return { kind: 'version', text: `rdpipe ${VERSION}\n` };
  if (rest[0] === 'demo') return { kind: 'demo', words: rest.slice(1) };
  checkTogether(options);
  return { kind: 'run', options, optionWords: words.slice(0, words.length - rest.length), stageWords: rest };
}

interface Parsed {
  readonly options: Options;
  readonly rest: readonly string[];
}

function parseOptions(words: readonly string[]): Parsed {
  const command = makeCommand();
  try {
    command.parse(words, { from: 'user' });
  } catch (error) {
    throw error instanceof CommanderError ? new UsageError(inWords(error)) : error;
  }
  return { options: command.opts<Options>(), rest: command.args };
}

/** commander without its habits: it prints nothing, ends nothing, and looks at no stream of this process. */
function makeCommand(): Command {
  const command = new Command('rdpipe')
    .argument('[stage...]')
    .passThroughOptions()
    .helpOption(false)
    .exitOverride()
    .configureOutput({ writeOut: () => {}, writeErr: () => {}, outputError: () => {} });
  for (const row of OPTION_TABLE) command.addOption(makeOption(row));
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

function inWords(error: CommanderError): string {
  const message = error.message.replace(/^error: /, '').replace(/\n/g, ' ');
  return `${forMessage(message)} (rdpipe --help shows the options)`;
}

function checkTogether(options: Options): void {
  if (options.quiet === true && options.verbose !== undefined)
    throw new UsageError('--quiet and --verbose exclude each other');
}
