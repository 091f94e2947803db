/** Fits text to the columns of a terminal: its width, lines broken at words, tables. Pure. */

import { widthOf } from '../model/width.ts';
import { formatTable } from './format.ts';

/** Columns for an output that is not a terminal: a line is never broken there, so that programs find it whole. */
export const UNLIMITED = Number.POSITIVE_INFINITY;

/**
 * The text in lines of at most `columns`, broken at blanks, all but the first indented. A word that is longer is not
 * broken, so that it can be copied, except after a `→` or a comma.
 */
export function wrap(text: string, columns = UNLIMITED, indent = 2): readonly string[] {
  if (widthOf(text) <= columns) return [text];
  const hang = hangingIndent(columns, indent);
  return fill(wordsOf(text, columns - hang.length), columns, hang);
}

/**
 * An aligned table. If it is too wide, the last cell of each row goes below the others, broken at words; if it is still
 * too wide, rows are broken between their cells.
 */
export function wrapTable(rows: readonly (readonly string[])[], columns: number): readonly string[] {
  const fits = (lines: readonly string[]) => lines.every((line) => widthOf(line) <= columns);
  const lines = formatTable(rows);
  if (fits(lines)) return lines;
  const heads = formatTable(rows.map((row) => row.slice(0, -1)));
  if (!fits(heads)) return rows.flatMap((row) => wrapCells(row, columns));
  return heads.flatMap((head, index) => {
    const last = rows[index]?.at(-1) ?? '';
    return last === '' ? [head] : [head, ...wrap(`  ${last}`, columns)];
  });
}

export interface Column {
  readonly cells: readonly string[];
  /** Columns of rank 0 are always shown; the others in the order of their ranks, as far as there is space. */
  readonly rank: number;
}

/** The columns of a table that fit, without those that are empty. Those of one rank are shown or left out together. */
export function fittingColumns<Item extends Column>(table: readonly Item[], columns: number): readonly Item[] {
  const filled = table.filter(({ cells }) => cells.some((cell) => cell !== ''));
  const ranks = [...new Set(filled.map(({ rank }) => rank))].sort((one, other) => one - other);
  let shown: readonly Item[] = [];
  for (const rank of ranks) {
    const more = filled.filter((column) => column.rank === rank || shown.includes(column));
    if (rank === 0 || widthOfTable(more) <= columns) shown = more;
  }
  return shown;
}

/** The lines of a table of columns. */
export function tableOf(table: readonly Column[]): readonly string[] {
  const rows = table[0]?.cells.map((_, row) => table.map(({ cells }) => cells[row] ?? '')) ?? [];
  return formatTable(rows);
}

function widthOfTable(table: readonly Column[]): number {
  return table.reduce((sum, { cells }) => sum + Math.max(...cells.map(widthOf)), 2 * (table.length - 1));
}

/** Less on a narrow terminal, where the text would have no space. */
function hangingIndent(columns: number, indent: number): string {
  return ' '.repeat(Math.min(indent, Math.floor(columns / 3)));
}

function wrapCells(row: readonly string[], columns: number): readonly string[] {
  const parts = row.filter((cell) => cell !== '').map((text, index) => ({ blanks: index === 0 ? '' : '  ', text }));
  return fill(parts, columns, hangingIndent(columns, 2)).flatMap((line) => wrap(line, columns));
}

/** A part of a line that is not broken, and the blanks before it. */
interface Part {
  readonly blanks: string;
  readonly text: string;
}

function wordsOf(text: string, columns: number): readonly Part[] {
  return [...text.matchAll(WORDS)].flatMap(([, blanks = '', word = '']) => {
    const pieces = widthOf(word) <= columns ? [word] : word.split(/(?<=[→,])/);
    return pieces.map((piece, index) => ({ blanks: index === 0 ? blanks : '', text: piece }));
  });
}

/** A number and its unit are one word. */
const WORDS = /(\s*)(\S*\d (?:m?s|µs|%|[KMGTPk]?i?[Bb](?:\/s)?)(?![\w/])\S*|\S+)/g;

function fill(parts: readonly Part[], columns: number, hang: string): readonly string[] {
  const lines: string[] = [];
  let rest = parts;
  while (rest.length > 0) {
    const count = partsOfLine(rest, columns);
    lines.push(textOf(rest.slice(0, count)));
    rest = rest.slice(count).map((part, index) => (index === 0 ? { ...part, blanks: hang } : part));
  }
  return lines;
}

/** As many parts as fit, at least one; a line that is half full ends after a comma or semicolon. */
function partsOfLine(parts: readonly Part[], columns: number): number {
  let width = 0;
  let afterPhrase = 0;
  for (const [index, { blanks, text }] of parts.entries()) {
    width += blanks.length + widthOf(text);
    if (width > columns && index > 0) return afterPhrase === 0 ? index : afterPhrase;
    if (/[,;]$/.test(text) && width >= columns / 2) afterPhrase = index + 1;
  }
  return parts.length;
}

function textOf(parts: readonly Part[]): string {
  return parts.map(({ blanks, text }) => blanks + text).join('');
}
