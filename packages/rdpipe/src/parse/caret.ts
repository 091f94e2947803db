/** Shows the command line with carets under the wrong word. */
import { shorten } from '../model/text.ts';
import { widthOf } from '../model/width.ts';
import { quoteWord } from './quote.ts';

/** The longest word that is not shortened; the line should fit a terminal. */
const WORD_LIMIT = 60;

/** Two lines: the command line as the user would type it, and carets under word `index`, followed by the hint. */
export function caretLines(words: readonly string[], index: number, hint: string, program = 'rdpipe'): string {
  const shown = words.map((word) => shorten(quoteWord(word), WORD_LIMIT));
  const before = [`  ${program}`, ...shown.slice(0, index)].join(' ');
  const carets = '^'.repeat(Math.max(1, widthOf(shown[index] ?? '')));
  return `${[`  ${program}`, ...shown].join(' ')}\n${' '.repeat(widthOf(before) + 1)}${carets} ${hint}`;
}
