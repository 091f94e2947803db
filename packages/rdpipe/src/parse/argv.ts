/** Reads the command line: options up to the first stage, then stages. */
import { Command, CommanderError, Option } from 'commander';
import { UsageError } from '../model/errors.ts';
import { flagName, isNegatable, type OptionRow, takesValue } from '../model/option-row.ts';
import { OPTIONS, type OptionName, optionsOf, type Topic } from '../model/options.ts';
import type { Options } from '../model/settings.ts';
import { VERSION } from '../model/version.ts';
import { adviceFor } from './advice.ts';
import { forMessage } from './binary-string.ts';
import { readFlag } from './flag.ts';
import { helpText } from './help.ts';

export type Invocation =
  | {
      readonly kind: 'run';
      readonly options: Options;
      /** The words before the first stage, for messages that show the command line. */
      readonly optionWords: readonly string[];
      readonly stageWords: readonly string[];
    }
  /** Text to print on standard output, with exit status 0. */
  | { readonly kind: 'help'; readonly text: string }
  /** `parts`: the versions of the parts follow. */
  | { readonly kind: 'version'; readonly text: string; readonly parts: boolean }
  | { readonly kind: 'demo'; readonly words: readonly string[] }
  | { readonly kind: 'doctor' | 'bench'; readonly options: Options; readonly hostWords: readonly string[] };

/**
 * Reads the words after the program's name: binary strings, as `readRawArgv` returns them.
 * @throws UsageError
 */
export function parseArgv(words: readonly string[]): Invocation {
  const { options, rest } = parseOptions(words, 'run');
  const optionWords = words.slice(0, words.length - rest.length);
  if (options.version === true && options.help !== true) return version('rdpipe', options);
  if (rest[0] === 'doctor' || rest[0] === 'bench') return parseOnHosts(rest[0], [...optionWords, ...rest.slice(1)]);
  if (rest[0] === 'demo') return parseDemo(rest.slice(1), options);
  if (rest[0] === 'help') return { kind: 'help', text: helpText(rest.slice(1)) };
  if (options.help === true) return { kind: 'help', text: helpText(['rdpipe']) };
  checkTogether(options);
  return { kind: 'run', options, optionWords, stageWords: rest };
}

function version(program: string, { verbosity }: Options): Extract<Invocation, { kind: 'version' }> {
  return { kind: 'version', text: `${program} ${VERSION}\n`, parts: verbosity !== undefined };
}

function parseDemo(words: readonly string[], { help }: Options): Invocation {
  const wantsHelp = help === true || words.some((word) => word === '-h' || word === '--help');
  return wantsHelp ? { kind: 'help', text: helpText(['demo']) } : { kind: 'demo', words };
}

/** Options may also follow hosts. */
function parseOnHosts(kind: 'doctor' | 'bench', words: readonly string[]): Invocation {
  const { options, rest } = parseOptions(words, kind);
  if (options.help === true) return { kind: 'help', text: helpText([kind]) };
  checkTogether(options);
  return { kind, options, hostWords: rest };
}

/** The command line of rdcp. */
export type CopyInvocation =
  | {
      readonly kind: 'copy';
      readonly options: Options;
      /** All words, for messages that show the command line. */
      readonly words: readonly string[];
      readonly pathWords: readonly string[];
      /** Options that were accepted from habit and do nothing: a line for each, for -v. */
      readonly ignored: readonly string[];
    }
  | Extract<Invocation, { readonly text: string }>;

/**
 * Reads the words after rdcp's name. Options may also follow paths.
 * @throws UsageError
 */
export function parseCopyArgv(words: readonly string[]): CopyInvocation {
  checkClusters(words);
  checkPort(words);
  const withModes = withModeOfProgress(words);
  const { options, rest } = parseOptions(withModes, 'copy');
  // rsync's -h, mostly in -avh, is about sizes; only alone it asks for help there too.
  const isHelp = options.help === true && (rest.length === 0 || words.includes('--help'));
  if (isHelp) return { kind: 'help', text: helpText(['rdcp']) };
  if (options.version === true) return version('rdcp', options);
  checkTogether(options);
  const rows = optionsOf('copy').flatMap(([name, row]) => (options[name] === true ? row : []));
  const alone = withModes === words ? [] : ignoredText({ ...OPTIONS.progress, ignored: 'a terminal shows it anyway' });
  const readable = options.help === true ? ['-h is ignored (sizes have units anyway)'] : [];
  const ignored = [...rows.flatMap(ignoredText), ...alone, ...readable];
  return { kind: 'copy', options, words, pathWords: rest, ignored };
}

/** rsync's `--progress` has no value: it gets the default. Returns the same array if there is nothing to do. */
function withModeOfProgress(words: readonly string[]): readonly string[] {
  const { long, choices } = OPTIONS.progress;
  const index = words.indexOf(long);
  const end = words.indexOf('--');
  const isMode = choices.some((choice) => choice === words[index + 1]);
  if (index < 0 || isMode || (end >= 0 && end < index)) return words;
  return [...words.slice(0, index), `${long}=${OPTIONS.progress.default}`, ...words.slice(index + 1)];
}

function ignoredText(row: OptionRow): readonly string[] {
  return row.ignored === undefined ? [] : [`${flagName(row)} is ignored (${row.ignored})`];
}

/** The command line of rdssh, which its front (packages/rdssh-native) made from ssh's. */
export type SshInvocation =
  | {
      readonly kind: 'ssh';
      readonly options: Options;
      readonly what: 'command' | 'subsystem' | 'forward';
      /** The file of ssh's -E; empty: none. */
      readonly logFile: string;
      readonly host: string;
      /** The words of the command, which ssh joins with blanks. */
      readonly command: readonly string[];
    }
  | Extract<Invocation, { readonly text: string }>;

/**
 * Reads the words that rdssh's front passes: options, `command` (`subsystem`, `forward`), log file, host, command.
 * @throws UsageError
 */
export function parseSshArgv(words: readonly string[]): SshInvocation {
  checkEqualsSign(words);
  const { options, rest } = parseOptions(words, 'ssh');
  if (options.help === true) return { kind: 'help', text: helpText(['rdssh']) };
  if (options.version === true) return version('rdssh', options);
  const [kind, logFile = '', host = '', ...command] = rest;
  const what = kind === 'subsystem' || kind === 'forward' ? kind : 'command';
  return { kind: 'ssh', options, what, logFile, host, command };
}

/** In `rdssh --compress zstd h1`, the front takes `zstd` for the host. */
function checkEqualsSign(words: readonly string[]): void {
  const last = words[words.indexOf('--') - 1];
  const row = optionsOf('ssh').find(([, { long }]) => long !== undefined && long === last)?.[1];
  if (row !== undefined && takesValue(row)) throw new UsageError(`${last} needs a value after '=' (${last}=VALUE)`);
}

/** rsync's `-aHAX` would set this machine's address to AX. */
function checkClusters(words: readonly string[]): void {
  const end = words.indexOf('--');
  const cluster = words
    .slice(0, end < 0 ? words.length : end)
    .find((word) => /^-[a-zA-Z]*H[AXSDxnv]+$|^-[a-zA-Z]+H/.test(word));
  if (cluster === undefined) return;
  const advice = "-a keeps hard links; -H NAME, as a separate word, sets this machine's address";
  throw new UsageError(`-H in '${forMessage(cluster)}' does not mean the same as in rsync (${advice})`);
}

/** scp's `-P 22` is a port. */
function checkPort(words: readonly string[]): void {
  const port = words.find((word, index) => /^\d+$/.test(word) && /^-[a-zA-Z]*P$/.test(words[index - 1] ?? ''));
  if (port !== undefined)
    throw new UsageError(`-P takes no port (for ssh's port use -o Port=${port}; for a file write ./${port})`);
}

interface Parsed {
  readonly options: Options;
  readonly rest: readonly string[];
}

function parseOptions(words: readonly string[], topic: Topic): Parsed {
  const given = new Map<OptionName, unknown>();
  const command = makeCommand(topic);
  for (const [name, row] of optionsOf(topic)) {
    command.addOption(makeOption(row, name, given));
    if (isNegatable(row)) command.addOption(makeNegation(row, name, given));
  }
  try {
    command.parse(words, { from: 'user' });
  } catch (error) {
    if (error instanceof CommanderError) throw new UsageError(withAdvice(error.message.replace(/^error: /, ''), topic));
    throw topic === 'copy' && error instanceof UsageError ? withCopyAdvice(error) : error;
  }
  const [first = ''] = command.args;
  // commander treats a negative number as an argument.
  if (/^-\d/.test(first) && words[words.length - command.args.length - 1] !== '--')
    throw new UsageError(withAdvice(`unknown option '${first}'`, topic));
  return { options: Object.fromEntries(given) as Options, rest: command.args };
}

/** A commander that does not print, exit or touch a stream of this process. */
function makeCommand(topic: Topic): Command {
  return (
    new Command()
      .argument('[word...]')
      // A run's options end at its first stage; after `doctor` they may be anywhere.
      .passThroughOptions(topic === 'run' || topic === 'ssh')
      .helpOption(false)
      .exitOverride()
      .configureOutput({ writeOut: () => {}, writeErr: () => {}, outputError: () => {} })
  );
}

/** An option whose value is added to `given`. */
function makeOption(row: OptionRow, name: OptionName, given: Map<OptionName, unknown>): Option {
  const names = [row.short, row.long].filter((flag) => flag !== undefined).join(', ');
  return new Option(takesValue(row) ? `${names} <value>` : names).argParser((text: string) => {
    const setting = (row.gatheredIn as OptionName | undefined) ?? name;
    given.set(setting, readFlag(row, text, given.get(setting)));
  });
}

function makeNegation({ long }: OptionRow, name: OptionName, given: Map<OptionName, unknown>): Option {
  return new Option(`${long}`.replace('--', '--no-')).argParser(() => {
    given.set(name, false);
  });
}

/** commander's message on one line, with the next step. ssh's options may contain their value: `-lann` is `-l`. */
function withAdvice(text: string, topic: Topic): string {
  const message = text.replace(/\n/g, ' ');
  const [, option = ''] = /^unknown option '(-[^-]|--[^'=]*).*'/.exec(message) ?? [];
  const advice = adviceFor(option, topic);
  const steps = [...(advice === undefined ? [] : [advice]), `${PROGRAMS[topic]} --help shows the options`];
  return `${forMessage(message)} (${steps.join('; ')})`;
}

/** Adds advice for an option of rdcp that means something else to rsync, cp and scp, unless the message has some. */
function withCopyAdvice(error: UsageError): UsageError {
  const [, option = ''] = /^(--[a-z]+): /.exec(error.message) ?? [];
  const advice = adviceFor(option, 'copy');
  const isAdvised = advice === undefined || error.message.includes(' use -o ');
  return isAdvised ? error : new UsageError(`${error.message} (${advice})`);
}

const PROGRAMS: Readonly<Record<Topic, string>> = {
  run: 'rdpipe',
  doctor: 'rdpipe doctor',
  bench: 'rdpipe bench',
  copy: 'rdcp',
  ssh: 'rdssh',
};

function checkTogether(options: Options): void {
  if (options.quiet === true && options.verbosity !== undefined)
    throw new UsageError('--quiet and --verbose cannot be combined');
}
