/** Sizes for people, in binary units. */

const UNITS = ['KiB', 'MiB', 'GiB', 'TiB', 'PiB'] as const;

/** A size for people: `17 B`, `41.2 GiB`. One decimal, binary units. */
export function formatBytes(bytes: number): string {
  if (bytes < 1024) return `${bytes} B`;
  let value = bytes / 1024;
  let unit = 0;
  while (value >= 1023.95 && unit < UNITS.length - 1) {
    value /= 1024;
    unit += 1;
  }
  return `${value.toFixed(1)} ${UNITS[unit]}`;
}
