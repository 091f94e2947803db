/** Progress as text: a row a hop. */
import { formatBytes } from '../model/bytes.ts';
import { formatRate } from '../model/rate.ts';
import { formatTable, formatWholeSeconds } from './format.ts';
import type { HopProgress } from './progress.ts';
import { hopBytes } from './words.ts';

/** Aligned rows, none longer than `columns`. */
export function progressRows(hops: readonly HopProgress[], columns: number): readonly string[] {
  return formatTable(hops.map(cells)).map((row) => [...row].slice(0, columns).join(''));
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
