/** The progress of hops as text: a row per hop. */

import { foldHosts } from '../../model/fold-hosts.ts';
import { formatBytes, formatRate } from '../../model/units.ts';
import { cutEnd, widthOf } from '../../model/width.ts';
import { fittingColumns, tableOf } from '../columns.ts';
import { formatClock } from '../format.ts';
import { hopBytes } from '../report-text.ts';
import type { HopProgress, Progress } from './progress.ts';

/**
 * Aligned rows, none longer than `columns`: what matters least is left out, and long host names are shortened. If a
 * stage has many hosts, there is a row for all of them, and one for each of the slowest.
 */
export function progressRows(hops: readonly HopProgress[], columns: number): readonly string[] {
  const groups = [...new Set(hops.map(({ group }) => group))].map((group) => hops.filter((hop) => hop.group === group));
  const rows = groups.flatMap((group) => (group.length > FEW ? manyCells(group) : group.map(cells)));
  const below = groups.flatMap((group) => (group.length > FEW ? stateLines(group) : []));
  const names = rows.map(([name = '']) => name);
  const nameWidth = Math.min(NAME_WISH, Math.max(0, ...names.map(widthOf)));
  const figures = RANKS.map((rank, column) => ({ rank, cells: rows.map((row) => row[column + 1] ?? '') }));
  const shown = fittingColumns(figures, columns - nameWidth - 2);
  const room = columns - Math.max(0, ...tableOf(shown).map(widthOf)) - 2;
  const name = { rank: 0, cells: names.map((text) => shortName(text, Math.max(NAME_MIN, room))) };
  return [...tableOf([name, ...shown]), ...below].map((row) => cutEnd(row, columns));
}

/** The ranks of bytes, rate, share, ETA and reason: what matters least is left out on a narrow terminal. */
const RANKS = [0, 2, 1, 3, 4];
/** A longer name is shortened before a column is left out. */
const NAME_WISH = 24;
const NAME_MIN = 9;

/** Up to this many hops have a row each. */
const FEW = 6;
const SLOWEST_SHOWN = 3;

function manyCells(hops: readonly HopProgress[]): readonly (readonly string[])[] {
  const here = hops.filter(({ state }) => state !== 'lost');
  const slowest = [...here].sort(bySlowness).slice(0, SLOWEST_SHOWN);
  return [sumCells(hops, here), ...slowest.map(cells).map(([name = '', ...rest]) => [`  ${name}`, ...rest])];
}

/** A hop that waits for output comes first: in a chain all hops have about the same number of bytes. */
function bySlowness(one: HopProgress, other: HopProgress): number {
  const isHeldUp = ({ waitsFor }: HopProgress) => (waitsFor === 'output' ? 1 : 0);
  return isHeldUp(other) - isHeldUp(one) || one.bytes - other.bytes;
}

function sumCells(hops: readonly HopProgress[], here: readonly HopProgress[]): readonly string[] {
  const [first] = hops;
  const sum = (of: (hop: HopProgress) => number) => here.reduce((total, hop) => total + of(hop), 0);
  const last = here.reduce<HopProgress | undefined>(
    (least, hop) => ((least?.bytes ?? hop.bytes + 1) > hop.bytes ? hop : least),
    undefined,
  );
  const isGathered = first !== undefined && hops.every(({ to }) => to === first.to);
  const name = isGathered ? `${hops.length} hosts→${first.to}` : `${first?.from}→${hops.length} hosts`;
  const bytes = {
    bytes: sum((hop) => hop.bytes),
    compress: first?.compress ?? 0,
    wireBytes: sum((hop) => hop.wireBytes),
  };
  const rate = formatRate(sum((hop) => hop.bytesPerSecond));
  const share = last === undefined ? '' : shareOf(last);
  return [name, hopBytes(bytes), rate, share === '' ? '' : `${share} each`, last === undefined ? '' : etaOf(last), ''];
}

/** `  failed n4` and `  lost n[3,7-9]`, below the row, in which those that are lost do not count. */
function stateLines(hops: readonly HopProgress[]): readonly string[] {
  return (['failed', 'lost'] as const).flatMap((state) => {
    const hosts = hops.filter((hop) => hop.state === state).map(({ host }) => host);
    return hosts.length === 0 ? [] : [`  ${state} ${foldHosts(hosts)}`];
  });
}

/** `storage-0…→backup-02…`: a part of both names remains. */
function shortName(name: string, limit: number): string {
  const [from = '', to] = name.split('→');
  if (to === undefined || widthOf(name) <= limit) return cutEnd(name, limit);
  const shortFrom = cutEnd(from, Math.max(Math.floor((limit - 1) / 2), limit - 1 - widthOf(to)));
  return `${shortFrom}→${cutEnd(to, limit - 1 - widthOf(shortFrom))}`;
}

/**
 * Rows for a terminal that also shows the last hop's output: none unless data moved without output since the last
 * call. Output itself shows that the run continues, and a row would interrupt it.
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
  input: 'waiting for input',
  limit: 'rate-limited',
  worker: 'compressing or encrypting',
  wire: 'waiting for network',
  output: 'waiting for output',
};

function cells(hop: HopProgress): readonly string[] {
  return [hop.name, hopBytes(hop), formatRate(hop.bytesPerSecond), shareOf(hop), etaOf(hop), doing(hop)];
}

function doing({ state, reconnecting, waitsFor }: HopProgress): string {
  if (state !== 'running') return state;
  if (reconnecting) return 'reconnecting';
  return waitsFor === undefined ? '' : WAITING[waitsFor];
}

/** `42% of 3.0 GiB`; empty if the size is unknown, and for a stream that is larger than expected. */
function shareOf({ size, bytes }: HopProgress): string {
  if (size === undefined || size === 0 || bytes > size) return '';
  return `${Math.floor((bytes * 100) / size)}% of ${formatBytes(size)}`;
}

function etaOf(hop: HopProgress): string {
  return shareOf(hop) === '' || hop.secondsLeft === undefined ? '' : `ETA ${formatClock(hop.secondsLeft)}`;
}
