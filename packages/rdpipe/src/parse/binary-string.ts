/** The command line's words as binary strings: one character per byte, so that no byte is lost. */
import { readFileSync } from 'node:fs';
import { printableBytes } from '../model/text.ts';

/** The words after the script's name, as binary strings. */
export function readRawArgv(): readonly string[] {
  return lastWords(readFileSync('/proc/self/cmdline'), process.argv.length - 2);
}

/**
 * The last `count` words of a `/proc/PID/cmdline`: node's own options come first, so the script's words are the last.
 * @throws RangeError if there are fewer words.
 */
export function lastWords(cmdline: Uint8Array, count: number): readonly string[] {
  const words = Buffer.from(cmdline).toString('latin1').split('\0').slice(0, -1);
  if (words.length < count) throw new RangeError(`/proc/self/cmdline holds ${words.length} words, not ${count}`);
  return words.slice(words.length - count);
}

/** The exact bytes of a binary string. */
export function bytesOf(word: string): Uint8Array {
  return Uint8Array.from(word, (character) => character.charCodeAt(0));
}

/** Decodes a binary string; undefined if it is not UTF-8. */
export function decode(word: string): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytesOf(word));
  } catch {
    return undefined;
  }
}

/** A binary string for a message: invalid UTF-8 and unprintable characters are replaced. */
export function forMessage(word: string): string {
  return printableBytes(bytesOf(word));
}
