/** The progress of a copy as text: its sums in one row, the current path in another. */
import { formatBytes, formatRate } from '../../model/units.ts';
import { counted } from '../copy-text.ts';
import { formatClock, formatCount } from '../format.ts';
import type { CopyState } from './copy-progress.ts';
import type { HopProgress } from './progress.ts';

/** Rows for a terminal, none longer than `columns`. */
export function copyRows(state: CopyState, columns: number): readonly string[] {
  const row = fitting(cellsOf(state), columns);
  return state.path === '' ? [row] : [row, `  ${endOf(state.path, columns - 2)}`];
}

/** One line, for an output that cannot be redrawn. */
export function copyLine(state: CopyState): readonly string[] {
  return [fitting(cellsOf(state), Number.POSITIVE_INFINITY)];
}

interface Cell {
  readonly text: string;
  /** If the row is too long, cells of the highest rank are dropped first. */
  readonly rank: number;
}

function cellsOf(state: CopyState): readonly Cell[] {
  const { found, files, bytes, percent, same, secondsLeft, hop } = state;
  const isCopying = files > 0 || bytes > 0;
  const scanning = `scanning: ${counted(found.files, 'file')}, ${formatBytes(found.bytes)} so far`;
  const of = found.isAll ? ` of ${formatBytes(Math.max(found.bytes, bytes))}` : '';
  const copying = [
    { text: counted(files, 'file'), rank: 0 },
    { text: `${formatBytes(bytes)}${of}`, rank: 3 },
    ...(percent === undefined ? [] : [{ text: `${percent}%`, rank: 1 }]),
    { text: formatRate(state.bytesPerSecond), rank: 4 },
    { text: `${counted(Math.round(state.filesPerSecond), 'file')}/s`, rank: 5 },
    ...(secondsLeft === undefined ? [] : [{ text: `ETA ${formatClock(secondsLeft)}`, rank: 2 }]),
  ];
  const waits = hop === undefined ? '' : waitOf(hop);
  return [
    ...(isCopying || found.isAll ? copying : []),
    ...(found.isAll ? [] : [{ text: scanning, rank: isCopying ? 6 : 0 }]),
    ...(same === 0 ? [] : [{ text: `${formatCount(same)} unchanged`, rank: 8 }]),
    ...(waits === '' ? [] : [{ text: waits, rank: 7 }]),
  ];
}

const WAITING = {
  input: 'waiting for source',
  limit: 'rate-limited',
  worker: 'compressing or encrypting',
  wire: 'waiting for network',
  output: 'waiting for destination',
};

/** The wait of the hop that carries the contents. */
function waitOf({ reconnecting, waitsFor }: HopProgress): string {
  if (reconnecting) return 'reconnecting';
  return waitsFor === undefined ? '' : WAITING[waitsFor];
}

/** The cells that fit, in their order. */
function fitting(cells: readonly Cell[], columns: number): string {
  const text = cells.map((cell) => cell.text).join('  ');
  if (text.length <= columns || cells.length === 1) return text.slice(0, Math.max(0, columns));
  const highest = Math.max(...cells.map(({ rank }) => rank));
  return fitting(
    cells.filter(({ rank }) => rank !== highest),
    columns,
  );
}

/** The end of a path, which is more informative than its beginning: `…/src/main.c`. */
function endOf(path: string, limit: number): string {
  const characters = [...path];
  let columns = characters.reduce((sum, character) => sum + columnsOf(character), 0);
  if (columns <= limit) return path;
  if (limit < 2) return '';
  const begin = characters.findIndex((character) => {
    const isShort = columns < limit;
    columns -= columnsOf(character);
    return isShort;
  });
  return `…${begin < 0 ? '' : characters.slice(begin).join('')}`;
}

/** Columns on a terminal: two for East Asian characters and emoji. Too high an estimate is harmless, too low is not. */
function columnsOf(character: string): number {
  return WIDE.test(character) ? 2 : 1;
}

const WIDE =
  /[\u1100-\u115f\u231a-\u23ff\u2600-\u27bf\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1f000}-\u{1faff}\u{20000}-\u{3fffd}]/u;
