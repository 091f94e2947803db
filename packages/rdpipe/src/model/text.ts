/** Foreign bytes as text that is safe to show on a terminal. */

/** Decodes UTF-8; what is not UTF-8 becomes U+FFFD. Control characters are shown as pictures. */
export function printableBytes(bytes: Uint8Array): string {
  return printable(new TextDecoder().decode(bytes));
}

/** Replaces control characters by their pictures (newline by U+240A), and those that reorder text by U+FFFD. */
export function printable(text: string): string {
  return text.replace(UNSAFE, (character) => pictureOf(character.codePointAt(0) ?? 0));
}

/** At most `limit` characters (code points); a cut shows as an ellipsis. */
export function shorten(text: string, limit: number): string {
  const characters = [...text];
  return characters.length <= limit ? text : `${characters.slice(0, limit - 1).join('')}…`;
}

/** C0, DEL, C1, line separators, marks and overrides of writing direction. */
const UNSAFE = /[\p{Cc}\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu;

function pictureOf(code: number): string {
  if (code < 0x20) return String.fromCodePoint(0x2400 + code);
  return code === 0x7f ? '\u2421' : '\ufffd';
}
