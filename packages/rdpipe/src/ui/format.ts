/** Numbers for people. Sizes are model/bytes.ts. */

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

/** `0.4 s`, `12.3 s`, `4:05`, `1:02:03`. */
export function formatDuration(seconds: number): string {
  return seconds < 59.95 ? `${seconds.toFixed(1)} s` : formatWholeSeconds(seconds);
}

/** `12 s`, `4:05`, `1:02:03`: an estimate pretends to no more. */
export function formatWholeSeconds(seconds: number): string {
  const whole = Math.round(seconds);
  if (whole < 60) return `${whole} s`;
  const hours = Math.floor(whole / 3600);
  const minutes = Math.floor((whole % 3600) / 60);
  const rest = twoDigits(whole % 60);
  return hours === 0 ? `${minutes}:${rest}` : `${hours}:${twoDigits(minutes)}:${rest}`;
}

/** Rows as columns as wide as their widest cell; the last column is not padded. */
export function formatTable(rows: readonly (readonly string[])[]): readonly string[] {
  const widths: number[] = [];
  for (const row of rows) {
    row.forEach((cell, column) => {
      widths[column] = Math.max(widths[column] ?? 0, cell.length);
    });
  }
  return rows.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  );
}

function twoDigits(value: number): string {
  return String(value).padStart(2, '0');
}
