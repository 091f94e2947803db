/** Decides whether a command that begins with redirections is a file, a command, or would lose data. */
import { endOfTarget, endOfWord } from './word-end.ts';

export interface FileOperation {
  readonly operator: '<' | '>' | '>>';
  readonly word: string;
}

export type CommandClass =
  | { readonly kind: 'command' }
  /** Exactly one operator and one word. */
  | { readonly kind: 'file'; readonly file: FileOperation }
  /** A shell would usually exit with status 0, and the bytes of the pipe or the file would be lost. */
  | {
      readonly kind: 'loss';
      readonly operator: string;
      /** The target of the first redirection; empty if it is not a word. */
      readonly word: string;
      /** The first file among the redirections. */
      readonly file: FileOperation | undefined;
      /** The text after the redirections, if it is a command. */
      readonly command: string | undefined;
    };

/**
 * Classifies a command, a binary string, by its leading redirections. Before a command they may give it input or divert
 * its output: `< in sort`, `<< EOF cat`, `>&2 cmd`. Without a command they lose data (`< in | gzip`, `> out && sync`),
 * as does a file name of two words (`> two words`). A here-document (`<< EOF`) is never a file.
 */
export function classifyCommand(command: string): CommandClass {
  const { redirections, end } = leadingRedirections(command);
  const [first] = redirections;
  if (first === undefined || isHereDocument(first)) return { kind: 'command' };
  const rest = command.slice(end);
  const hasCommand = !NO_COMMAND.test(rest);
  const files = redirections.flatMap(fileOf);
  if (hasCommand && files.every(({ operator }) => operator === '<')) return { kind: 'command' };
  const [file] = files;
  const isAlone = first.operator === file?.operator && /^[ \t\n]*$/.test(command.slice(first.end));
  if (file !== undefined && isAlone) return { kind: 'file', file };
  return { kind: 'loss', operator: first.operator, word: first.word, file, command: hasCommand ? rest : undefined };
}

/** No command follows the redirections: the end, a comment, or a character that ends or begins a list of commands. */
const NO_COMMAND = /^(?:[\n;&|()#]|$)/;

interface Redirection {
  /** The operator, with the number of its descriptor. */
  readonly operator: string;
  /** Empty if there is no word, or its quotes do not end. */
  readonly word: string;
  /** The index after the word. */
  readonly end: number;
}

function isHereDocument({ operator }: Redirection): boolean {
  return /^0?<<[<-]?$/.test(operator);
}

/** Assignments may follow or separate the redirections: `< in LC_ALL=C sort`. */
function leadingRedirections(command: string): { readonly redirections: readonly Redirection[]; readonly end: number } {
  const redirections: Redirection[] = [];
  let at = after(/[ \t\n]*/y, command, 0);
  for (;;) {
    const begin = after(OPERATOR, command, at);
    const isAssignment = begin === at && redirections.length > 0 && after(ASSIGNMENT, command, at) > at;
    if (begin === at && !isAssignment) return { redirections, end: at };
    const start = isAssignment ? at : after(BLANKS, command, begin);
    const end = (isAssignment ? endOfWord(command, start) : endOfTarget(command, start)) ?? start;
    if (!isAssignment) redirections.push({ operator: command.slice(at, begin), word: command.slice(start, end), end });
    if (end === start) return { redirections, end: command.length };
    at = after(BLANKS, command, end);
  }
}

/** Operators of sh and bash; `<(` and `>(` begin words of bash. */
const OPERATOR = /\d*(?:<<<|<<-?|<&|<>|<(?!\()|>>|>&|>\||>(?!\())|&>>?/y;
const ASSIGNMENT = /[A-Za-z_]\w*\+?=/y;
const BLANKS = /[ \t]*/y;

/** The index after the match of `sticky` at `at`; `at` if there is none. */
function after(sticky: RegExp, text: string, at: number): number {
  sticky.lastIndex = at;
  return sticky.test(text) ? sticky.lastIndex : at;
}

/** The file of a redirection of standard input or output; empty if there is none, as with a process `<(cmd)`. */
function fileOf({ operator, word }: Redirection): readonly FileOperation[] {
  const file = FILE_OPERATORS.get(operator.replace(/^(?:0(?=<)|1(?=>))/, ''));
  return file === undefined || /^(?:$|[<>])/.test(word) ? [] : [{ operator: file, word }];
}

const FILE_OPERATORS: ReadonlyMap<string, FileOperation['operator']> = new Map([
  ['<', '<'],
  ['<>', '<'],
  ['>', '>'],
  ['>|', '>'],
  ['&>', '>'],
  ['>>', '>>'],
  ['&>>', '>>'],
]);
