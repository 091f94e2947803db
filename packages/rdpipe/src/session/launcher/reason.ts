/** Finds the reason in the standard error of a launcher. */
import { printable, shorten } from '../../model/text.ts';

const CHARACTERS_MAX = 300;

/** Returns the last line that is not empty, shortened and printable; undefined if there is none. */
export function lastReason(stderr: string): string | undefined {
  const lines = stderr.split(/\r?\n/).map((line) => line.trim());
  const line = lines.filter((text) => text !== '').at(-1);
  return line === undefined ? undefined : printable(shorten(line.replace(/^error: /i, ''), CHARACTERS_MAX));
}
