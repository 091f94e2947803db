/** The width of text on a terminal, in columns. Pure. */

/** Columns of a text without control characters; the escape sequences of colours take none. */
export function widthOf(text: string): number {
  if (PLAIN.test(text)) return text.length;
  let columns = 0;
  for (const character of text.replace(COLORS, '')) columns += columnsOf(character);
  return columns;
}

/** The text in at most `columns`; an ellipsis marks that its end is cut. */
export function cutEnd(text: string, columns: number): string {
  if (widthOf(text) <= columns) return text;
  return columns < 1 ? '' : `${splitAt(text, columns - 1)[0]}…`;
}

/** The beginning of a text, as much as fits in `columns`, and the rest. */
export function splitAt(text: string, columns: number): readonly [string, string] {
  let width = 0;
  let begin = '';
  for (const character of text) {
    width += columnsOf(character);
    if (width > columns) break;
    begin += character;
  }
  return [begin, text.slice(begin.length)];
}

/** The end of a text in at most `columns`; an ellipsis marks that its beginning is cut. */
export function cutBeginning(text: string, columns: number): string {
  if (widthOf(text) <= columns) return text;
  if (columns < 2) return '';
  const characters = [...text];
  let width = 1;
  let begin = characters.length;
  while (begin > 0 && width + columnsOf(characters[begin - 1] ?? '') <= columns) {
    begin -= 1;
    width += columnsOf(characters[begin] ?? '');
  }
  return `…${characters.slice(begin).join('')}`;
}

/** The text with blanks up to `columns`. */
export function padTo(text: string, columns: number): string {
  return text + ' '.repeat(Math.max(0, columns - widthOf(text)));
}

/**
 * Two for East Asian characters and emoji, none for combining marks. Too high an estimate is harmless, too low is not.
 */
function columnsOf(character: string): number {
  if (WIDE.test(character)) return 2;
  return MARK.test(character) ? 0 : 1;
}

const PLAIN = /^[ -~]*$/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: the escape sequences of colours
const COLORS = /\u001b\[[\d;]*m/g;
const MARK = /^[\p{Mn}\p{Me}]$/u;
const WIDE =
  /[\u1100-\u115f\u231a-\u23ff\u2600-\u27bf\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1f000}-\u{1faff}\u{20000}-\u{3fffd}]/u;
