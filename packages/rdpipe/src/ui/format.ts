/** Formats numbers for people. Sizes and rates are in model/units.ts. */
import { padTo, widthOf } from '../model/width.ts';

/** `0.4 s`, `12.3 s`, `4:05`, `1:02:03`. */
export function formatDuration(seconds: number): string {
  return seconds < 59.95 ? `${seconds.toFixed(1)} s` : formatWholeSeconds(seconds);
}

/** `12 s`, `4:05`, `1:02:03`: estimates have no decimals. */
export function formatWholeSeconds(seconds: number): string {
  const whole = Math.round(seconds);
  if (whole < 60) return `${whole} s`;
  const hours = Math.floor(whole / 3600);
  const minutes = Math.floor((whole % 3600) / 60);
  const rest = twoDigits(whole % 60);
  return hours === 0 ? `${minutes}:${rest}` : `${hours}:${twoDigits(minutes)}:${rest}`;
}

/** `12,345`. */
export function formatCount(number: number): string {
  return String(number).replace(/\B(?=(?:\d{3})+$)/g, ',');
}

/** `0:12`, `4:05`, `1:02:03`. */
export function formatClock(seconds: number): string {
  const whole = Math.round(seconds);
  return whole < 60 ? `0:${twoDigits(whole)}` : formatWholeSeconds(whole);
}

/** `331 µs`, `1.2 ms`, `0.4 s`. */
export function formatMicroseconds(microseconds: number): string {
  if (microseconds < 999.5) return `${Math.round(microseconds)} µs`;
  return microseconds < 99_950 ? `${(microseconds / 1000).toFixed(1)} ms` : formatDuration(microseconds / 1_000_000);
}

/** Lines with aligned columns, each as wide as its widest cell; without trailing blanks. */
export function formatTable(rows: readonly (readonly string[])[]): readonly string[] {
  const widths: number[] = [];
  for (const row of rows) {
    row.forEach((cell, column) => {
      widths[column] = Math.max(widths[column] ?? 0, widthOf(cell));
    });
  }
  return rows.map((row) =>
    row
      .map((cell, column) => padTo(cell, widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  );
}

function twoDigits(value: number): string {
  return String(value).padStart(2, '0');
}
