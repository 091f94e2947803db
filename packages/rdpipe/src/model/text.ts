/** Foreign bytes as text that is safe to show on a terminal. */

/** Decodes UTF-8; what is not UTF-8 becomes U+FFFD. Control characters are shown as pictures. */
export function printableBytes(bytes: Uint8Array): string {
  return printable(new TextDecoder().decode(bytes));
}

/** Replaces control characters by their pictures (newline by U+240A), and those that reorder or hide text by U+FFFD. */
export function printable(text: string): string {
  return text.replace(UNSAFE, (character) => pictureOf(character.codePointAt(0) ?? 0));
}

/** The same, but the text stays in its lines, and a tab a tab. */
export function printableText(text: string): string {
  return text.replace(UNSAFE_WITHIN_LINES, (character) => pictureOf(character.codePointAt(0) ?? 0));
}

/** A value as JSON on one line that no terminal takes for more than text: what `printable` replaces stands as an escape. */
export function jsonText(value: unknown, replacer?: (key: string, value: unknown) => unknown): string {
  return JSON.stringify(value, replacer).replace(UNSAFE, escapeUnits);
}

/** At most `limit` characters (code points); a cut shows as an ellipsis. */
export function shorten(text: string, limit: number): string {
  const characters = [...text];
  return characters.length <= limit ? text : `${characters.slice(0, limit - 1).join('')}…`;
}

/** C0, DEL, C1, halves of characters, line separators, marks and overrides of writing direction, what hides as a tag. */
const UNSAFE =
  /[\p{Cc}\p{Cs}\u061c\u200e\u200f\u2028-\u202e\u2066-\u206f\ufeff\ufff9-\ufffb\u{e0001}\u{e0020}-\u{e007f}]/gu;

/** Without tab, newline and carriage return; as a class of its own it takes a sixth of the time of one that looks again. */
const UNSAFE_WITHIN_LINES =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
  /[\0-\x08\v\f\x0e-\x1f\x7f-\x9f\p{Cs}\u061c\u200e\u200f\u2028-\u202e\u2066-\u206f\ufeff\ufff9-\ufffb\u{e0001}\u{e0020}-\u{e007f}]/gu;

function pictureOf(code: number): string {
  if (code < 0x20) return String.fromCodePoint(0x2400 + code);
  return code === 0x7f ? '\u2421' : '\ufffd';
}

/** One escape of JSON for each of the character's 16-bit units. */
function escapeUnits(character: string): string {
  return Array.from(
    { length: character.length },
    (_, index) => `\\u${character.charCodeAt(index).toString(16).padStart(4, '0')}`,
  ).join('');
}
