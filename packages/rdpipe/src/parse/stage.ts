/** Reads the stages of a pipeline from the words of the command line. */
import { UsageError } from '../model/errors.ts';
import {
  byPosition,
  type CommandStage,
  type HostRef,
  type Pipeline,
  positionOf,
  type Stage,
} from '../model/pipeline.ts';
import { forHost, type Settings } from '../model/settings.ts';
import { shorten } from '../model/text.ts';
import { bytesOf, forMessage } from './binary-string.ts';
import { caretLines } from './caret.ts';
import { checkHosts } from './check-hosts.ts';
import { expandHostList } from './host-list.ts';
import { endOfHost, parseHostRef } from './host-ref.ts';
import { nearest } from './nearest.ts';
import { quoteWord } from './quote.ts';
import { type CommandClass, classifyCommand } from './redirections.ts';

export interface StageOptions {
  /** The words before the first stage, for messages that show the command line. */
  readonly optionWords: readonly string[];
  readonly settings: Pick<Settings, 'shell' | 'ok' | 'namedHosts' | 'groups' | 'launcher'>;
}

/**
 * Reads every stage. Words are binary strings.
 * @throws UsageError with carets under a word that is not a stage, or if a flag names a missing stage or host.
 */
export function parseStages(words: readonly string[], options: StageOptions): Pipeline {
  const [first, ...rest] = words.flatMap((_, index) => parseStage(words, index, options));
  if (first === undefined) throw new UsageError('no stage given (write host:command; rdpipe --help shows more)');
  const stages: Pipeline['stages'] = [first, ...rest];
  checkSinks(stages, words, options);
  checkStageNumbers(stages, options.settings);
  const hosts = stages.map(({ host }) => host);
  checkHosts(options.settings, hosts, 'no stage has the host');
  return { stages };
}

/** The longest text of a stage in messages; its bytes are kept separately, not shortened. */
const TEXT_LIMIT = 200;

/** A stage, or its parts if it runs on several hosts. */
function parseStage(words: readonly string[], index: number, options: StageOptions): readonly Stage[] {
  const word = words[index] ?? '';
  const position = index + 1;
  try {
    const { hosts, command } = splitStage(word, position, words.slice(index + 1), options.settings.groups);
    const [host] = hosts;
    if (host !== undefined && hosts.length === 1) return [makeStage(position, host, command, options.settings)];
    return hosts.map((each, rank) => ({
      ...makeStage(position, each, command, options.settings),
      number: position + rank * (words.length + 1),
      part: { position, rank, width: hosts.length },
    }));
  } catch (error) {
    throw error instanceof StageProblem ? usageError(error, words, index, options) : error;
  }
}

/** The problem, with the command line and carets under the word. */
function usageError(
  { message, hint }: StageProblem,
  words: readonly string[],
  index: number,
  { optionWords }: StageOptions,
): UsageError {
  return new UsageError(message, caretLines([...optionWords, ...words], optionWords.length + index, hint));
}

/** An error in one word, before its position in the command line is known. */
class StageProblem extends Error {
  readonly hint: string;

  constructor(message: string, hint: string) {
    super(message);
    this.hint = hint;
  }
}

const HINT_HOST = 'write host:command, or :command for this machine';

function splitStage(
  word: string,
  number: number,
  following: readonly string[],
  groups: Settings['groups'],
): { readonly hosts: readonly HostRef[]; readonly command: string } {
  if (word === '') throw new StageProblem(`stage ${number} is empty`, HINT_HOST);
  if (/^ssh:\/\//i.test(word)) {
    throw new StageProblem(
      `stage ${number} is a URL: ${shown(word)}`,
      'write host:command; for the port use -o Port=NUMBER',
    );
  }
  const colon = endOfHost(word);
  if (/^[ \t\n]*\d+:/.test(word.slice(colon + 1)) && colon >= 0) throw portInStage(word, number);
  if (colon < 0) throw following.length > 0 && number === 1 ? missingColon(word, following) : missingHost(word, number);
  const command = word.slice(colon + 1);
  const hosts = readHosts(word.slice(0, colon), number, groups);
  if (trimBlanks(command) === '')
    throw new StageProblem(`stage ${number} (${hosts[0]?.label}) has no command`, commandHint(word, following));
  return { hosts, command };
}

/** As if a blank after the colon did not matter: `h1: uptime`. */
function commandHint(word: string, [next = '']: readonly string[]): string {
  return next === '' || endOfHost(next) >= 0 ? 'write host:command' : `write ${quoteWord(`${word.trim()}${next}`)}`;
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

/** As ssh's command lines are: `h1 uptime`. */
function missingColon(word: string, following: readonly string[]): StageProblem {
  const end = following.findIndex((next) => endOfHost(next) >= 0);
  const command = following.slice(0, end < 0 ? following.length : end).join(' ');
  if (command === '' || !HOST_WORD.test(word)) return missingHost(word, 1);
  const near = nearest(word, SUBCOMMANDS);
  const meant = near === undefined ? '' : `, or rdpipe ${near}`;
  return new StageProblem(`stage 1 has no command: ${shown(word)}`, `write ${quoteWord(`${word}:${command}`)}${meant}`);
}

const SUBCOMMANDS = ['doctor', 'bench', 'demo', 'help'];
const HOST_WORD = /^\w[\w.@-]*$/;

/** A port is written like this in `scp://` and in addresses of services; no command is named `2222:`. */
function portInStage(word: string, number: number): StageProblem {
  return new StageProblem(
    `stage ${number} has a port in place of a command: ${shown(word)}`,
    'use -o Port=NUMBER before the stages, or set Port in ~/.ssh/config for one host',
  );
}

function readHosts(text: string, number: number, groups: Settings['groups']): readonly HostRef[] {
  try {
    return expandHostList(text, groups).map(parseHostRef);
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    throw new StageProblem(`stage ${number}: ${error.message}`, error.detail ?? HINT_HOST);
  }
}

function makeStage(number: number, host: HostRef, command: string, settings: StageOptions['settings']): Stage {
  const base = { number, host, text: shown(trimBlanks(command)) };
  const form = classifyCommand(command);
  if (form.kind === 'loss') throw lossOfData(form, base, command);
  if (form.kind === 'command')
    return { ...base, kind: 'command', command: bytesOf(command), ...howToRun(number, host, settings) };
  const { operator, word } = form.file;
  if (operator === '<') return { ...base, kind: 'source', word: bytesOf(word) };
  return { ...base, kind: 'sink', word: bytesOf(word), append: operator === '>>' };
}

type Named = Pick<Stage, 'number' | 'part' | 'host' | 'text'>;
type Loss = Extract<CommandClass, { kind: 'loss' }>;

function lossOfData(loss: Loss, stage: Named, command: string): StageProblem {
  const what = `${nameOf(stage)} begins with ${loss.operator} and would lose data`;
  return new StageProblem(`${what} (start it with :; to run it anyway)`, remedy(loss, stage.host, trimBlanks(command)));
}

function remedy({ operator, word, file, command }: Loss, host: HostRef, text: string): string {
  if (word === '') return 'write the file name after it';
  const [, direction, substituted] = PROCESS_SUBSTITUTION.exec(text) ?? [];
  if (substituted !== undefined)
    return `make the command a stage${direction === '>' ? ' after this one' : ''}: ${asStage(host, substituted)}`;
  if (file === undefined) return `write a command: ${asStage(host, `cat ${text}`)}`;
  if (command === undefined) return `put it in its own stage: ${asStage(host, `${file.operator} ${file.word}`)}`;
  const name = trimBlanks(text.replace(operator, ''));
  const quoted = PLAIN_WORDS.test(name) ? `: ${asStage(host, `${file.operator} '${name}'`)}` : '';
  return `quote the name${quoted}; or write the command first`;
}

/** `< <(command)`: quoted, so that no shell has replaced it. */
const PROCESS_SUBSTITUTION = /^([<>])>?[ \t]+[<>]\(([^()]*)\)$/;

/** Text without a character that has a meaning to a shell. */
const PLAIN_WORDS = /^[\w @%+=:,./\x80-\xff-]+$/;

function howToRun(
  number: number,
  host: HostRef,
  { shell, ok }: StageOptions['settings'],
): Pick<CommandStage, 'shell' | 'ok'> {
  const allowed = new Set([0, ...ok.all, ...(ok.stages.get(number) ?? [])]);
  return { shell: forHost(shell, host), ok: [...allowed].sort((a, b) => a - b) };
}

/** A sink has no output: a stage after it would get an empty stream. Only a source, which has no input, may follow. */
function checkSinks(stages: Pipeline['stages'], words: readonly string[], options: StageOptions): void {
  const positions = byPosition(stages);
  positions.forEach(([stage], index) => {
    const [next] = positions[index + 1] ?? [];
    if (stage.kind !== 'sink' || next === undefined || next.kind === 'source') return;
    const word = Buffer.from(stage.word).toString('latin1');
    const tee = asStage(stage.host, `tee ${stage.append ? '-a ' : ''}${word}`);
    const what = `${nameOf(stage)} writes a file and sends nothing to stage ${positionOf(next)}`;
    throw usageError(new StageProblem(what, wideSink(stage, next) ?? `to do both: ${tee}`), words, index, options);
  });
}

/** Advice if a sink is followed by one to the same file on another host. */
function wideSink(stage: Stage, next: Stage): string | undefined {
  if (stage.kind !== 'sink' || next.kind !== 'sink' || stage.text !== next.text || stage.host.name === '')
    return undefined;
  const hosts = { ...stage.host, label: `${stage.host.label},${next.host.label}` };
  return `write one stage for both: ${asStage(hosts, stage.text)}`;
}

function nameOf({ number, host, text, part }: Named): string {
  return `stage ${part?.position ?? number} (${host.label}: ${text})`;
}

/** A stage as a user would type it. */
function asStage(host: HostRef, command: string): string {
  return shorten(
    quoteWord(`${host.name === '' ? '' : Buffer.from(host.label).toString('latin1')}:${command}`),
    TEXT_LIMIT,
  );
}

function checkStageNumbers(stages: readonly Stage[], { ok }: StageOptions['settings']): void {
  const positions = byPosition(stages);
  for (const number of ok.stages.keys()) {
    const [stage] = positions[number - 1] ?? [];
    if (stage === undefined) throw new UsageError(`--ok ${number}=…: ${onlySoMany(positions.length)}`);
    if (stage.kind !== 'command') {
      throw new UsageError(`--ok ${number}=…: ${nameOf(stage)} is a file, not a command`);
    }
  }
}

function onlySoMany(stages: number): string {
  return stages === 1 ? 'there is only 1 stage' : `there are only ${stages} stages`;
}

/** Removes a shell's blanks; JavaScript's trim would also remove bytes of UTF-8 characters. */
function trimBlanks(text: string): string {
  return text.replace(/^[ \t\n]+|[ \t\n]+$/g, '');
}

function shown(word: string): string {
  return shorten(forMessage(word), TEXT_LIMIT);
}
