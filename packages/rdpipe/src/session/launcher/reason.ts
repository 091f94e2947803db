/** The reason in the standard error of a launcher. */
import { printable, shorten } from '../../model/text.ts';

const MOST_CHARACTERS = 300;

/** The last line that is no empty one, for people; undefined where there is none. */
export function lastReason(stderr: string): string | undefined {
  const lines = stderr.split(/\r?\n/).map((line) => line.trim());
  const line = lines.filter((text) => text !== '').at(-1);
  return line === undefined ? undefined : printable(shorten(line.replace(/^error: /i, ''), MOST_CHARACTERS));
}
