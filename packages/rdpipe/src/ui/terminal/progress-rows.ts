/** The progress of hops as text: a row a hop. */

import { shorten } from '../../model/text.ts';
import { formatBytes, formatRate } from '../../model/units.ts';
import { formatTable, formatWholeSeconds } from '../format.ts';
import { hopBytes } from '../report-text.ts';
import type { HopProgress, Progress } from './progress.ts';

/** Aligned rows, none longer than `columns`: names of hosts give way first, then what a hop waits for. */
export function progressRows(hops: readonly HopProgress[], columns: number): readonly string[] {
  const rows = hops.map(cells);
  const numbers = formatTable(rows.map((row) => row.slice(1, -1)));
  const room = Math.max(NAME_LEAST, columns - Math.max(...numbers.map((row) => row.length)) - 2);
  const fitting = rows.map(([name = '', ...rest]) => [shortName(name, room), ...rest]);
  return formatTable(fitting).map((row) => [...row].slice(0, columns).join('').trimEnd());
}

const NAME_LEAST = 9;

/** `storage-0…→backup-02…`: something of both hosts is left. */
function shortName(name: string, limit: number): string {
  const [from = '', to] = name.split('→');
  if (to === undefined || name.length <= limit) return shorten(name, limit);
  const shortFrom = shorten(from, Math.max(Math.floor((limit - 1) / 2), limit - 1 - to.length));
  return `${shortFrom}→${shorten(to, limit - 1 - shortFrom.length)}`;
}

/**
 * Rows for a terminal to which the last hop brings output: those of a time in which data moved and none of it came out.
 * Output shows by itself that the run goes on, and a row would stand in its midst.
 */
export function rowsWithoutOutput(progress: Progress): () => readonly string[] {
  let before: readonly HopProgress[] = [];
  return () => {
    const hops = progress.hops();
    const bytesBefore = (index: number) => before[index]?.bytes ?? 0;
    const moved = hops.filter(({ bytes }, index) => bytes > bytesBefore(index));
    const isSilent = moved.length > 0 && moved.at(-1) !== hops.at(-1);
    before = hops;
    return isSilent ? progressRows(hops, Number.POSITIVE_INFINITY) : [];
  };
}

const WAITING = {
  input: 'waits for input',
  limit: 'at its limit',
  worker: 'waits for its workers',
  wire: 'waits for the network',
  output: 'waits for output',
};

function cells(hop: HopProgress): readonly string[] {
  return [hop.name, hopBytes(hop), formatRate(hop.bytesPerSecond), portion(hop), doing(hop)];
}

function doing({ reconnecting, waitsFor }: HopProgress): string {
  if (reconnecting) return 'reconnecting';
  return waitsFor === undefined ? '' : WAITING[waitsFor];
}

/** `42% of 3.0 GiB, 31 s left`; a stream that outgrew what was expected has no percentage. */
function portion({ size, bytes, secondsLeft }: HopProgress): string {
  if (size === undefined || size === 0 || bytes > size) return '';
  const left = secondsLeft === undefined ? '' : `, ${formatWholeSeconds(secondsLeft)} left`;
  return `${Math.floor((bytes * 100) / size)}% of ${formatBytes(size)}${left}`;
}
