/** The command line as exact bytes: node decodes argv as UTF-8 and loses what is not. */
import { readFileSync } from 'node:fs';

/** The words after the script's name, as binary strings. */
export function readRawArgv(): readonly string[] {
  return lastWords(readFileSync('/proc/self/cmdline'), process.argv.length - 2);
}

/**
 * The last `count` words of a `/proc/PID/cmdline`. Node's own options stand before them, so only the end is ours.
 * @throws RangeError when there are fewer words than that.
 */
export function lastWords(cmdline: Uint8Array, count: number): readonly string[] {
  const words = Buffer.from(cmdline).toString('latin1').split('\0').slice(0, -1);
  if (words.length < count) throw new RangeError(`/proc/self/cmdline holds ${words.length} words, not ${count}`);
  return words.slice(words.length - count);
}
