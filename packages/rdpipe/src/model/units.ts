/** Formats sizes and rates for people, both in powers of 1024; rates of links in bits. */

/** A size with one decimal: `17 B`, `41.2 GiB`. */
export function formatBytes(bytes: number): string {
  if (bytes < 1024) return `${bytes} B`;
  const { value, unit } = scale(bytes, 1024, BINARY_UNITS);
  return `${value.toFixed(1)} ${unit}`;
}

/** A rate with four digits, or in whole bytes: `2.872 GiB/s`, `17 B/s`. */
export function formatRate(bytesPerSecond: number): string {
  if (bytesPerSecond < 1023.5) return `${Math.round(bytesPerSecond)} B/s`;
  const { value, unit } = scale(bytesPerSecond, 1024, BINARY_UNITS);
  return `${fourDigits(value)} ${unit}/s`;
}

/** The unit of a plot of rates up to `highest`. */
export function rateUnit(highest: number): { readonly unit: string; readonly bytesPerSecond: number } {
  if (highest < 1024) return { unit: 'B/s', bytesPerSecond: 1 };
  const { value, unit } = scale(highest, 1024, BINARY_UNITS);
  return { unit: `${unit}/s`, bytesPerSecond: highest / value };
}

/** A rate that a user chose, in the units in which it is shorter: `200 MB/s`, `200 MiB/s`. */
export function formatLimit(bytesPerSecond: number): string {
  const inUnits = (step: number, units: readonly string[]) => {
    const { value, unit } =
      bytesPerSecond < step ? { value: bytesPerSecond, unit: 'B' } : scale(bytesPerSecond, step, units);
    return `${Number(fourDigits(value))} ${unit}/s`;
  };
  const [decimal, binary] = [inUnits(1000, DECIMAL_UNITS), inUnits(1024, BINARY_UNITS)];
  return binary.length < decimal.length ? binary : decimal;
}

/** The rate of a link: `100 Gb/s`, `2.5 Gb/s`, `100 Mb/s`. */
export function formatMbps(mbps: number): string {
  return mbps < 1000 ? `${Number(fourDigits(mbps))} Mb/s` : `${Number(fourDigits(mbps / 1000))} Gb/s`;
}

const BINARY_UNITS = ['KiB', 'MiB', 'GiB', 'TiB', 'PiB'];
const DECIMAL_UNITS = ['kB', 'MB', 'GB', 'TB', 'PB'];

function fourDigits(value: number): string {
  return value.toFixed(value >= 99.995 ? 1 : value >= 9.9995 ? 2 : 3);
}

/** Scales to the first unit in which the number, rounded to one decimal, is below `step`; units grow by `step`. */
function scale(
  number: number,
  step: number,
  units: readonly string[],
): { readonly value: number; readonly unit: string } {
  let value = number / step;
  let index = 0;
  while (value >= step - 0.05 && index < units.length - 1) {
    value /= step;
    index += 1;
  }
  return { value, unit: units[index] ?? '' };
}
