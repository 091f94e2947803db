/** The stages of a pipeline from the words of the command line. */
import { UsageError } from '../model/errors.ts';
import type { CommandStage, HostRef, Pipeline, Stage } from '../model/pipeline.ts';
import { forHost, type Settings } from '../model/settings.ts';
import { shorten } from '../model/text.ts';
import { bytesOf, forMessage } from './binary.ts';
import { endOfHost, hostKey, parseHostRef } from './host-ref.ts';
import { picture } from './picture.ts';
import { endOfWord } from './shell-word.ts';

export interface StageOptions {
  /** The words before the first stage, for pictures of the command line. */
  readonly optionWords: readonly string[];
  readonly settings: Pick<Settings, 'shell' | 'ok' | 'namedHosts'>;
}

/**
 * Reads every stage. Words are binary strings.
 * @throws UsageError with a picture when a word is no stage, or when a flag names a stage or host that is not there.
 */
export function parseStages(words: readonly string[], options: StageOptions): Pipeline {
  const [first, ...rest] = words.map((_, index) => parseStage(words, index, options));
  if (first === undefined) throw new UsageError('no stage given (write host:command; rdpipe --help shows more)');
  const stages: Pipeline['stages'] = [first, ...rest];
  checkStageNumbers(stages, options.settings);
  checkNamedHosts(stages, options.settings);
  return { stages };
}

/** Longest text of a stage in messages; its bytes are kept whole beside it. */
const TEXT_LIMIT = 200;

function parseStage(words: readonly string[], index: number, options: StageOptions): Stage {
  const word = words[index] ?? '';
  try {
    const { host, command } = splitStage(word, index + 1);
    return makeStage(index + 1, host, command, options.settings);
  } catch (error) {
    if (!(error instanceof StageProblem)) throw error;
    throw new UsageError(
      error.message,
      picture([...options.optionWords, ...words], options.optionWords.length + index, error.hint),
    );
  }
}

/** What is wrong with one word, before it is known where in the command line it stands. */
class StageProblem extends Error {
  readonly hint: string;

  constructor(message: string, hint: string) {
    super(message);
    this.hint = hint;
  }
}

const HINT_HOST = 'write host:command, or :command for this machine';

function splitStage(word: string, number: number): { readonly host: HostRef; readonly command: string } {
  if (word === '') throw new StageProblem(`stage ${number} is empty`, HINT_HOST);
  if (/^ssh:\/\//i.test(word)) {
    throw new StageProblem(
      `stage ${number} is a URL: ${shown(word)}`,
      'write host:command; for the port -o Port=NUMBER',
    );
  }
  const colon = endOfHost(word);
  if (colon < 0) throw missingHost(word, number);
  const command = word.slice(colon + 1);
  const host = readHost(word.slice(0, colon), number);
  if (trimBlanks(command) === '')
    throw new StageProblem(`stage ${number} (${host.label}) has no command`, 'write host:command');
  return { host, command };
}

function missingHost(word: string, number: number): StageProblem {
  if (number > 1 && word.startsWith('-')) {
    return new StageProblem(
      `option ${shown(word)} after a stage: quote the command, or put options first`,
      "quote the command: host:'command -x'",
    );
  }
  return new StageProblem(`stage ${number} has no host: ${shown(word)}`, HINT_HOST);
}

function readHost(text: string, number: number): HostRef {
  try {
    return parseHostRef(text);
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    throw new StageProblem(`stage ${number}: ${error.message}`, HINT_HOST);
  }
}

function makeStage(number: number, host: HostRef, command: string, settings: StageOptions['settings']): Stage {
  const base = { number, host, text: shown(trimBlanks(command)) };
  const file = fileOperation(command);
  if (file === undefined)
    return { ...base, kind: 'command', command: bytesOf(command), ...howToRun(number, host, settings) };
  const word = bytesOf(file.word);
  if (file.operator === '<') return { ...base, kind: 'source', word };
  return { ...base, kind: 'sink', word, append: file.operator === '>>' };
}

function howToRun(
  number: number,
  host: HostRef,
  { shell, ok }: StageOptions['settings'],
): Pick<CommandStage, 'shell' | 'ok'> {
  const allowed = new Set([0, ...ok.all, ...(ok.stages.get(number) ?? [])]);
  return { shell: forHost(shell, host), ok: [...allowed].sort((a, b) => a - b) };
}

/** One operator and exactly one word; undefined for every other command. */
function fileOperation(command: string): { readonly operator: string; readonly word: string } | undefined {
  const operator = /^[ \t\n]*(<|>>|>)[ \t]*/.exec(command);
  if (operator === null) return undefined;
  const start = operator[0].length;
  const end = endOfWord(command, start);
  if (end === undefined || trimBlanks(command.slice(end)) !== '') return undefined;
  return { operator: operator[1] ?? '', word: command.slice(start, end) };
}

function checkStageNumbers(stages: readonly Stage[], { ok }: StageOptions['settings']): void {
  for (const number of ok.stages.keys()) {
    const stage = stages[number - 1];
    if (stage === undefined) throw new UsageError(`--ok ${number}=…: ${onlySoMany(stages.length)}`);
    if (stage.kind !== 'command') {
      throw new UsageError(`--ok ${number}=…: stage ${number} (${stage.host.label}: ${stage.text}) is no command`);
    }
  }
}

function onlySoMany(stages: number): string {
  return stages === 1 ? 'there is only 1 stage' : `there are only ${stages} stages`;
}

function checkNamedHosts(stages: readonly Stage[], { namedHosts }: StageOptions['settings']): void {
  const known = new Set(stages.flatMap(({ host }) => [host.name, hostKey(host)]));
  const stranger = namedHosts.find(({ host }) => !known.has(host));
  if (stranger !== undefined) throw new UsageError(`${stranger.flag}: no stage has the host '${stranger.host}'`);
}

/** What a shell calls blank; JavaScript's trim would also cut bytes of UTF-8 characters. */
function trimBlanks(text: string): string {
  return text.replace(/^[ \t\n]+|[ \t\n]+$/g, '');
}

function shown(word: string): string {
  return shorten(forMessage(word), TEXT_LIMIT);
}
