// SPDX-License-Identifier: Apache-2.0
/**
 * Finds phrases that are hard to read, and prose wider than 120 columns, in sources, documents and manual pages.
 * `npm run check:words -- [--count] [DIRECTORY...]`: only below these directories; --count prints numbers by directory.
 */
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { ROOT, sourceFiles } from './source-files.ts';

const MAX_COLUMNS = 120;

/** Also at the beginning of a sentence, and when a line breaks between two words. */
const PHRASES: readonly { readonly phrases: readonly string[]; readonly write: string }[] = [
  { phrases: ['anew'], write: 'write again, a new …' },
  { phrases: ['nobody'], write: 'write no peer, no process or no other user' },
  { phrases: ['whoever'], write: 'write the caller, any peer, the user who …' },
  {
    phrases: ['is told', 'are told', 'was told'],
    write: 'use an active verb: the agent reports …, the peer receives …',
  },
  { phrases: ['says nothing', 'say nothing'], write: 'write reports nothing, does not mention …, is silent' },
  { phrases: ['without a word'], write: 'write without a report, without a message' },
  { phrases: ['those who'], write: 'name them: peers that …, users who …' },
];

/** The beginning of a statement; the same words may begin a question. */
const BEGINNING = /(?<!\w)(What|Who) (?=[a-z`'"])/g;
const INSTEAD_OF_BEGINNING = 'begin with the subject: the …';

/** They hold the phrases as data. */
const EXCEPT = new Set(['scripts/check-words.ts', 'test/toolchain/check-words.test.ts']);

const GENERATED = /<!-- (\S.*?) -->.*?<!-- end of \1 -->/gs;
const COMMENT = /^\s*(\/\/+|\/\*+|\*(?!\/)|#+|\.\\")/;
const TRAILING_COMMENT = /\s\/\/ /;

export interface Finding {
  readonly file: string;
  readonly line: number;
  readonly found: string;
  readonly write: string;
}

/** What `file`, by its name a document, a manual page or a source, has that should be written otherwise. */
export function findWords(file: string, text: string): Finding[] {
  if (EXCEPT.has(file)) return [];
  const written = ownText(file, text);
  const lines = written.split('\n');
  const findings = [...phrases(written), ...beginnings(file, lines), ...wideLines(file, lines)];
  return findings.map((finding) => ({ file, ...finding })).sort((a, b) => a.line - b.line);
}

type Found = Omit<Finding, 'file'>;

/** Without what is generated or history, in as many lines. */
function ownText(file: string, text: string): string {
  if (file === 'CHANGELOG.md') return text.split(/^(?=## (?!.*not released))/m)[0] ?? '';
  return file.endsWith('.md') ? text.replace(GENERATED, (part) => part.replace(/[^\n]+/g, '')) : text;
}

function phrases(text: string): Found[] {
  return PHRASES.flatMap(({ phrases, write }) =>
    phrases.flatMap((phrase) =>
      [...text.matchAll(pattern(phrase))].map(({ index }) => ({ line: lineAt(text, index), found: phrase, write })),
    ),
  );
}

/** `nobody` alone between quotes, or after `user`, is the user of that name. */
function pattern(phrase: string): RegExp {
  const breaks = String.raw`(?:[ \t]+|[ \t]*\n[ \t]*(?:(?:\/\/+|\*|#+|\.\\")[ \t]*)?)`;
  const words = `[${phrase[0]}${phrase[0]?.toUpperCase()}]${phrase.slice(1)}`.replaceAll(' ', breaks);
  const user = String.raw`(?<=user )nobody|(?<=(['"${'`'}]))nobody\1`;
  return new RegExp(String.raw`(?<![\w-])(?!${user})${words}(?![\w-])`, 'g');
}

function lineAt(text: string, index: number): number {
  return text.slice(0, index).split('\n').length;
}

function beginnings(file: string, lines: readonly string[]): Found[] {
  return lines.flatMap((line, index) =>
    [...line.matchAll(BEGINNING)]
      .filter((match) => !isQuestion(sentence(file, lines, index, match.index)))
      .map((match) => ({ line: index + 1, found: `${match[1]} … as a statement`, write: INSTEAD_OF_BEGINNING })),
  );
}

/** From a column of a line to the end of its sentence, cell, paragraph or comment. */
function sentence(file: string, lines: readonly string[], index: number, column: number): string {
  const first = lines[index] ?? '';
  const cell = isTableRow(first) ? first.slice(column).split(' |')[0] : first.slice(column);
  const rest = isTableRow(first) ? [] : lines.slice(index + 1);
  const end = rest.findIndex((line) => !continues(file, first, line));
  const text = [cell, ...(end < 0 ? rest : rest.slice(0, end))].join('\n');
  return /^.*?[.?!](?=["'`)\]*_]*(\s|$))/s.exec(text)?.[0] ?? text;
}

function continues(file: string, first: string, next: string): boolean {
  if (isProse(file)) return next.trim() !== '' && !/^\s*([-*|#>.]|\d+\.)/.test(next);
  return COMMENT.test(first) && COMMENT.test(next) && !/^\s*\/\*/.test(next);
}

function isQuestion(text: string): boolean {
  return text.endsWith('?');
}

function wideLines(file: string, lines: readonly string[]): Found[] {
  const blocks = codeBlocks(file, lines);
  return lines.flatMap((line, index) => {
    const columns = [...line].length;
    const free = blocks[index] || isTableRow(line) || isOneWord(line);
    if (columns <= MAX_COLUMNS || free || !(isProse(file) || hasComment(line))) return [];
    return [{ line: index + 1, found: `${columns} columns`, write: `break the line: at most ${MAX_COLUMNS}` }];
  });
}

/** Of each line, whether it is part of a block that is shown as it is. */
function codeBlocks(file: string, lines: readonly string[]): boolean[] {
  const [begin, end] = file.endsWith('.1') ? [/^\.(nf|EX)\b/, /^\.(fi|EE)\b/] : [/^\s*```/, /^\s*```/];
  let within = false;
  return lines.map((line) => {
    const edge = isProse(file) && (within ? end : begin).test(line);
    if (edge) within = !within;
    return edge || within;
  });
}

function isProse(file: string): boolean {
  return /\.(md|1)$/.test(file);
}

function hasComment(line: string): boolean {
  return COMMENT.test(line) || TRAILING_COMMENT.test(line);
}

function isTableRow(line: string): boolean {
  return /^\s*(\/\/+|\*|#)?\s*\|.*\|\s*$/.test(line);
}

/** As a link that stands alone: there is no place to break the line. */
function isOneWord(line: string): boolean {
  return /^\s*([-*>#]|\/\/+|\[[^\]]*\]:)?\s*\S+$/.test(line);
}

function main(words: readonly string[]): void {
  const directories = words.filter((word) => word !== '--count').map((word) => word.replace(/^\.\/|\/+$/g, ''));
  const files = sourceFiles().filter((file) => isBelow(file, directories));
  const findings = files.flatMap((file) => findWords(file, readFileSync(join(ROOT, file), 'utf8')));
  if (words.includes('--count')) console.log(counts(findings).join('\n'));
  else for (const { file, line, found, write } of findings) console.error(`${file}:${line}: ${found}: ${write}`);
  if (files.length === 0) console.error(`no file of ours below ${directories.join(' ')}`);
  process.exitCode = findings.length > 0 || files.length === 0 ? 1 : 0;
}

function isBelow(file: string, directories: readonly string[]): boolean {
  return (
    directories.length === 0 ||
    directories.some((directory) => `${file}/`.startsWith(`${directory}/`) || directory === '.')
  );
}

function counts(findings: readonly Finding[]): string[] {
  const table = new Map<string, { words: number; columns: number }>();
  for (const { file, found } of findings)
    for (const directory of [dirname(file), 'in all']) {
      const row = table.get(directory) ?? { words: 0, columns: 0 };
      table.set(directory, row);
      row[found.endsWith(' columns') ? 'columns' : 'words']++;
    }
  const rows = [...table].sort(([a], [b]) => Number(a === 'in all') - Number(b === 'in all') || a.localeCompare(b));
  return rows.map(([directory, row]) => `${directory.padEnd(40)} ${row.words} words, ${row.columns} wide lines`);
}

if (process.argv[1] === import.meta.filename) main(process.argv.slice(2));
