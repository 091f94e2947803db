/** What stands along the axes of a plot: every tick with its unit. Pure. */
import { formatBytes } from '../model/bytes.ts';
import { formatWholeSeconds } from './format.ts';

/**
 * `B/s`: decimal multiples. `B`: binary multiples. `time`: seconds since the beginning, as a clock shows them. Anything else
 * stands behind the number: `ms`, `%`, `CPU s/GiB`.
 */
export interface Axis {
  readonly title: string;
  readonly unit: string;
  /** Powers of ten, or of two of `B`; what is not above 0 is left out. */
  readonly logarithmic?: boolean;
  /** Ticks at whole numbers only, from the least there is. */
  readonly whole?: boolean;
  /** The end of the axis; undefined: what fits the data. */
  readonly max?: number;
}

export function formatTick(value: number, unit: string): string {
  switch (unit) {
    case 'B/s':
      return withPrefix(value, unit);
    case 'B':
      return formatBytes(value).replace('.0 ', ' ');
    case 'time':
      return formatWholeSeconds(value);
    default:
      return `${plain(value)} ${unit}`.trimEnd();
  }
}

/** Seconds between the ticks of a clock. */
export function timeInterval(seconds: number): number {
  return STEPS_S.find((step) => seconds / step <= TICKS_MOST) ?? Math.ceil(seconds / TICKS_MOST / DAY_S) * DAY_S;
}

const TICKS_MOST = 8;
const DAY_S = 86_400;
const STEPS_S = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14_400, 21_600, 43_200, DAY_S];
const PREFIXES = ['', 'k', 'M', 'G', 'T', 'P'] as const;

function withPrefix(value: number, unit: string): string {
  let rest = value;
  let prefix = 0;
  while (rest >= 1000 && prefix < PREFIXES.length - 1) {
    rest /= 1000;
    prefix += 1;
  }
  return `${plain(rest)} ${PREFIXES[prefix]}${unit}`;
}

/** Without the noise of binary fractions. */
function plain(value: number): string {
  return String(Number(value.toPrecision(6)));
}
