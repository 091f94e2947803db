/** Words of the command line are binary strings: one character a byte, so that no byte is lost. */
import { printableBytes } from '../model/text.ts';

/** The exact bytes of a binary string. */
export function bytesOf(word: string): Uint8Array {
  return Uint8Array.from(word, (character) => character.charCodeAt(0));
}

/** A binary string as a person wrote it, or undefined where it is not UTF-8. */
export function decode(word: string): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytesOf(word));
  } catch {
    return undefined;
  }
}

/** A binary string for a message: what is not UTF-8 or not printable is replaced. */
export function forMessage(word: string): string {
  return printableBytes(bytesOf(word));
}
