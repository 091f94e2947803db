/** The ticks of a plot's axes, each with its unit. Pure. */
import { formatWholeSeconds } from '../format.ts';

/**
 * `B/s`: decimal multiples. `B`: binary multiples. `time`: seconds since the beginning, shown as a clock. Any other
 * unit follows the number: `ms`, `%`, `CPU s/GiB`.
 */
export interface Axis {
  readonly title: string;
  readonly unit: string;
  /** Powers of ten, or of two for `B`; values that are not above 0 are left out. */
  readonly logarithmic?: boolean;
  /** Ticks only at whole numbers, from the lowest value. */
  readonly whole?: boolean;
  /** The end of the axis; undefined: determined by the data. */
  readonly max?: number;
}

/** The label of a tick, for a `unit` of `Axis`. */
export function formatTick(value: number, unit: string): string {
  switch (unit) {
    case 'B/s':
      return withPrefix(value, unit, 1000, DECIMAL);
    case 'B':
      return withPrefix(value, unit, 1024, BINARY);
    case 'time':
      return Number.isInteger(plainNumber(value)) ? formatWholeSeconds(value) : `${plain(value)} s`;
    default:
      return `${plain(value)} ${unit}`.trimEnd();
  }
}

/** Seconds between ticks on a time axis of this length; whole seconds, unless the time is only a few seconds. */
export function timeInterval(seconds: number): number {
  return STEPS_S.find((step) => seconds / step <= TICKS_MAX) ?? Math.ceil(seconds / TICKS_MAX / DAY_S) * DAY_S;
}

const TICKS_MAX = 8;
const DAY_S = 86_400;
const STEPS_S = [
  0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14_400, 21_600,
  43_200,
];
const DECIMAL = ['', 'k', 'M', 'G', 'T', 'P'] as const;
const BINARY = ['', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi'] as const;

function withPrefix(value: number, unit: string, step: number, prefixes: readonly string[]): string {
  let rest = value;
  let prefix = 0;
  while (rest >= step && prefix < prefixes.length - 1) {
    rest /= step;
    prefix += 1;
  }
  return `${plain(rest)} ${prefixes[prefix]}${unit}`;
}

/** The number without the rounding errors of binary fractions. */
function plain(value: number): string {
  return String(plainNumber(value));
}

function plainNumber(value: number): number {
  return Number(value.toPrecision(6));
}
