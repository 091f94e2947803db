/** Makes untrusted text safe for a terminal: replaces control characters and cuts long text. */

/** Decodes UTF-8; invalid bytes become U+FFFD. Control characters are shown as pictures. */
export function printableBytes(bytes: Uint8Array): string {
  return printable(new TextDecoder().decode(bytes));
}

/** Replaces control characters with pictures (newline: U+240A), and those that reorder or hide text with U+FFFD. */
export function printable(text: string): string {
  return text.replace(UNSAFE, (character) => pictureOf(character.codePointAt(0) ?? 0));
}

/** Like `printable`, but keeps newlines, carriage returns and tabs. */
export function printableText(text: string): string {
  return text.replace(UNSAFE_WITHIN_LINES, (character) => pictureOf(character.codePointAt(0) ?? 0));
}

/** A value as one line of JSON, safe for a terminal: the characters that `printable` replaces are escaped. */
export function jsonText(value: unknown, replacer?: (this: unknown, key: string, value: unknown) => unknown): string {
  return JSON.stringify(value, replacer).replace(UNSAFE, escapeUnits);
}

/** At most `limit` characters (code points); an ellipsis marks a cut. */
export function shorten(text: string, limit: number): string {
  if (text.length <= limit) return text;
  const characters = [...text];
  return characters.length <= limit ? text : `${characters.slice(0, limit - 1).join('')}…`;
}

type Ranges = readonly (readonly [first: number, last: number])[];

/** Code points that are unsafe to print, as in the native programs: rdbase-native/src/base/text_unsafe.h. */
export const UNSAFE_RANGES: Ranges = [
  [0x0, 0x1f],
  [0x7f, 0x9f],
  [0x61c, 0x61c],
  [0x200b, 0x200f],
  [0x2028, 0x202e],
  [0x2060, 0x206f],
  [0xd800, 0xdfff],
  [0xfeff, 0xfeff],
  [0xfff9, 0xfffb],
  [0xe0000, 0xe007f],
];

/** C0 without tab, newline and carriage return. */
const C0_WITHIN_LINES: Ranges = [
  [0x0, 0x8],
  [0xb, 0xc],
  [0xe, 0x1f],
];

const UNSAFE = classOf(UNSAFE_RANGES);

/** A separate class takes a sixth of the time of a lookahead. */
const UNSAFE_WITHIN_LINES = classOf([...C0_WITHIN_LINES, ...UNSAFE_RANGES.slice(1)]);

function classOf(ranges: Ranges): RegExp {
  const members = ranges.map(([first, last]) => `\\u{${first.toString(16)}}-\\u{${last.toString(16)}}`);
  return new RegExp(`[${members.join('')}]`, 'gu');
}

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
