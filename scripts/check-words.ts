// SPDX-License-Identifier: Apache-2.0
/**
 * Finds phrases that are hard to read, and prose wider than 120 columns, in sources, documents and manual pages.
 * `npm run check:words -- [--comments] [--count] [DIRECTORY...]`: only below these directories; --comments also lists
 * the phrases that are counted in comments, tests and notes; --count prints numbers by directory.
 */
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { PHRASES } from './phrases.ts';
import { ROOT, sourceFiles } from './source-files.ts';
import { sourceText } from './source-text.ts';

const MAX_COLUMNS = 120;

/** The number of phrases that comments, tests and notes still have. It may only fall. */
const IN_COMMENTS = 28;

/** The beginning of a statement; the same words may begin a question. */
const BEGINNING = /(?<!\w)(What|Who) (?=[a-z`'"])/g;
const INSTEAD_OF_BEGINNING = 'begin with the subject: the …';

/** Files that contain the phrases as data, or names of fields as constants. */
const EXCEPT = new Set([
  ...['scripts/check-words.ts', 'scripts/phrases.ts', 'test/toolchain/check-words.test.ts'],
  'packages/rdbase-native/src/base/option_rows.h',
]);

/** Files whose phrases are counted, also those in strings. */
const TESTS_AND_NOTES = /^(packages\/[^/]+\/)?(test|fuzz)\/|^docs\/(adr|notes)\//;

const GENERATED = /<!-- (\S.*?) -->.*?<!-- end of \1 -->/gs;
const COMMENT = /^\s*(\/\/+|\/\*+|\*(?!\/)|#+|\.\\")/;
const TRAILING_COMMENT = /\s\/\/ /;

export interface Finding {
  readonly file: string;
  readonly line: number;
  readonly found: string;
  readonly write: string;
  /** In a comment, a test or a note: the check fails only if there are more than IN_COMMENTS of them. */
  readonly counted?: true;
}

/** The findings in a document, manual page or source; the name of `file` decides which it is. */
export function findWords(file: string, text: string): Finding[] {
  if (EXCEPT.has(file)) return [];
  const written = ownText(file, text);
  const lines = written.split('\n');
  const findings = [...phrases(file, written), ...beginnings(file, lines), ...wideLines(file, lines)];
  return findings.map((finding) => ({ file, ...finding })).sort((a, b) => a.line - b.line);
}

type Found = Omit<Finding, 'file'>;

/** The text without generated parts and old releases, with the same line numbers. */
function ownText(file: string, text: string): string {
  if (file === 'CHANGELOG.md') return text.split(/^(?=## (?!.*not released))/m)[0] ?? '';
  return file.endsWith('.md') ? text.replace(GENERATED, (part) => part.replace(/[^\n]+/g, '')) : text;
}

function phrases(file: string, text: string): Found[] {
  const { strict, counted } = parts(file, text);
  return PHRASES.flatMap(({ pattern, write, where }) => {
    const find = (part: string) =>
      [...part.matchAll(inProse(pattern))].map((match) => ({
        line: lineAt(text, match.index),
        found: match[0].replace(/[^\w,]+/g, ' '),
        write,
      }));
    if (where === 'anywhere') return find(text);
    return [...find(strict), ...counted.flatMap(find).map((found) => ({ ...found, counted: true as const }))];
  });
}

/** The part of a file that must be free of phrases, and the parts where they are counted. */
function parts(file: string, text: string): { strict: string; counted: readonly string[] } {
  const isCounted = TESTS_AND_NOTES.test(file);
  if (isProse(file)) return isCounted ? { strict: '', counted: [text] } : { strict: text, counted: [] };
  const { strings, comments } = sourceText(file, text);
  return isCounted ? { strict: '', counted: [strings, comments] } : { strict: strings, counted: [comments] };
}

/** Matches whole words, also across a line break or two joined strings; a single word in quotes is a name. */
function inProse(pattern: RegExp): RegExp {
  const lead = String.raw`(?:(?:\/\/+|\*|#+|\.\\")[ \t]*|['"${'`'}])?`;
  const breaks = String.raw`(?:[ \t]+|[ \t]*['"${'`'}]?[ \t\0+]*\n[ \t]*${lead})`;
  const name = String.raw`(?<=(?<quote>['"${'`'}]))\w+\k<quote>`;
  return new RegExp(
    String.raw`(?<![\w-])(?!${name})(?:${pattern.source.replaceAll(' ', breaks)})(?![\w-])`,
    `${pattern.flags}g`,
  );
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
  const directories = words.filter((word) => !OPTIONS.has(word)).map((word) => word.replace(/^\.\/|\/+$/g, ''));
  const files = sourceFiles().filter((file) => isBelow(file, directories));
  const findings = files.flatMap((file) => findWords(file, readFileSync(join(ROOT, file), 'utf8')));
  const strict = findings.filter(({ counted }) => counted === undefined);
  const listed = words.includes('--comments') ? findings : strict;
  if (words.includes('--count')) console.log(counts(listed).join('\n'));
  else for (const { file, line, found, write } of listed) console.error(`${file}:${line}: ${found}: ${write}`);
  if (files.length === 0) console.error(`no files to check below ${directories.join(' ')}`);
  const problem = directories.length === 0 ? countProblem(findings.length - strict.length, IN_COMMENTS) : undefined;
  if (problem !== undefined) console.error(problem);
  process.exitCode = strict.length > 0 || files.length === 0 || problem !== undefined ? 1 : 0;
}

const OPTIONS = new Set(['--comments', '--count']);

/** The count must equal `allowed`; a lower count must be written down, so that it cannot rise again. */
export function countProblem(count: number, allowed: number): string | undefined {
  if (count > allowed)
    return `${count} phrases in comments, tests and notes, ${allowed} are allowed: list them with -- --comments`;
  if (count < allowed) return `${count} phrases in comments, tests and notes: lower IN_COMMENTS to that in ${SELF}`;
  return undefined;
}

const SELF = 'scripts/check-words.ts';

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
