/** Formats sizes in binary units and rates in decimal units, for people. */

/** A size with one decimal: `17 B`, `41.2 GiB`. */
export function formatBytes(bytes: number): string {
  if (bytes < 1024) return `${bytes} B`;
  const { value, unit } = scale(bytes, 1024, ['KiB', 'MiB', 'GiB', 'TiB', 'PiB']);
  return `${value.toFixed(1)} ${unit}`;
}

/** A rate with four digits, or in whole bytes: `2.872 GB/s`, `17 B/s`. */
export function formatRate(bytesPerSecond: number): string {
  if (bytesPerSecond < 999.5) return `${Math.round(bytesPerSecond)} B/s`;
  const { value, unit } = scale(bytesPerSecond, 1000, ['kB/s', 'MB/s', 'GB/s', 'TB/s']);
  const decimals = value >= 99.995 ? 1 : value >= 9.9995 ? 2 : 3;
  return `${value.toFixed(decimals)} ${unit}`;
}

/** A rate that a user chose, without trailing zeros: `200 MB/s`. */
export function formatLimit(bytesPerSecond: number): string {
  return formatRate(bytesPerSecond).replace(/\.(\d*?)0* /, (_, digits: string) =>
    digits === '' ? ' ' : `.${digits} `,
  );
}

/** The nominal rate of a link: `100 Gb/s`, `2.5 Gb/s`, `100 Mb/s`. */
export function formatMbps(mbps: number): string {
  return mbps < 1000 ? `${mbps} Mb/s` : `${mbps / 1000} Gb/s`;
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
