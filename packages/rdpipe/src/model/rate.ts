/** Rates for people, in decimal units. */

const RATE_UNITS = ['kB/s', 'MB/s', 'GB/s', 'TB/s'] as const;

/** A rate in decimal units with four digits, but for whole bytes: `2.872 GB/s`, `17 B/s`. */
export function formatRate(bytesPerSecond: number): string {
  if (bytesPerSecond < 999.5) return `${Math.round(bytesPerSecond)} B/s`;
  let value = bytesPerSecond / 1000;
  let unit = 0;
  while (value >= 999.95 && unit < RATE_UNITS.length - 1) {
    value /= 1000;
    unit += 1;
  }
  const decimals = value >= 99.995 ? 1 : value >= 9.9995 ? 2 : 3;
  return `${value.toFixed(decimals)} ${RATE_UNITS[unit]}`;
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
