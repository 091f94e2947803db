/** The progress of a copy as text: its sums in one row, the current path in another. */
import { formatBytes, formatRate } from '../../model/units.ts';
import { cutBeginning, cutEnd } from '../../model/width.ts';
import { fittingColumns, tableOf } from '../columns.ts';
import { counted } from '../copy-text.ts';
import { formatClock, formatCount } from '../format.ts';
import type { CopyState } from './copy-progress.ts';
import type { HopProgress } from './progress.ts';

/** Rows for a terminal, none longer than `columns`. */
export function copyRows(state: CopyState, columns: number): readonly string[] {
  const row = fitting(cellsOf(state), columns);
  return state.path === '' ? [row] : [row, `  ${cutBeginning(state.path, columns - 2)}`];
}

/** One line, for an output that cannot be redrawn. */
export function copyLine(state: CopyState): readonly string[] {
  return [fitting(cellsOf(state), Number.POSITIVE_INFINITY)];
}

interface Cell {
  readonly text: string;
  /** On a narrow terminal, cells of a low rank are shown first. */
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
  const row = fittingColumns(
    cells.map(({ text, rank }) => ({ cells: [text], rank })),
    columns,
  );
  return cutEnd(tableOf(row).join(), columns);
}
