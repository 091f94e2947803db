const RATE_UNITS = ['B/s', 'kB/s', 'MB/s', 'GB/s', 'TB/s'] as const;

/** A rate in decimal units with four digits: `2.872 GB/s`, `17.00 B/s`. */
export function formatRate(bytesPerSecond: number): string {
  let value = bytesPerSecond;
  let unit = 0;
  while (value >= 999.95 && unit < RATE_UNITS.length - 1) {
    value /= 1000;
    unit += 1;
  }
  const decimals = value >= 99.995 ? 1 : value >= 9.9995 ? 2 : 3;
  return `${value.toFixed(decimals)} ${RATE_UNITS[unit]}`;
}

/** What a link is made for: `100 Gb/s`, `2.5 Gb/s`, `100 Mb/s`. */
export function formatMbps(mbps: number): string {
  return mbps < 1000 ? `${mbps} Mb/s` : `${mbps / 1000} Gb/s`;
}
