/** Finds the end of a word of a POSIX shell without expanding anything. */

/**
 * The index after the word that begins at `start`; undefined if no complete word begins there:
 * at a blank, an operator or a comment, or if a quote or an expansion is not closed.
 */
export function endOfWord(text: string, start: number): number | undefined {
  if (text[start] === '#') return undefined;
  let at = start;
  while (at < text.length && !ENDS_WORD.test(text.charAt(at))) {
    const next = afterPiece(text, at);
    if (next === undefined) return undefined;
    at = next;
  }
  return at === start ? undefined : at;
}

/** Like `endOfWord`, for the target of a redirection, which in bash may be a process: `<(cmd)`. */
export function endOfTarget(text: string, start: number): number | undefined {
  return /^[<>]\(/.test(text.slice(start, start + 2)) ? afterGroup(text, start + 2, ')') : endOfWord(text, start);
}

const ENDS_WORD = /[ \t\n|&;<>()]/;

/** The index after the character, quotation or expansion at `at`. */
function afterPiece(text: string, at: number): number | undefined {
  switch (text[at]) {
    case '\\':
      return at + 1 < text.length ? at + 2 : undefined;
    case "'":
      return afterNext(text, "'", at + 1);
    case '"':
      return afterGroup(text, at + 1, '"');
    case '`':
      return afterGroup(text, at + 1, '`');
    case '$':
      return afterDollar(text, at + 1);
    default:
      return at + 1;
  }
}

function afterDollar(text: string, at: number): number | undefined {
  if (text[at] === '{') return afterGroup(text, at + 1, '}');
  if (text[at] === '(') return afterGroup(text, at + 1, ')');
  return at;
}

/** The index after the `end` that closes the group whose content begins at `at`; groups nest. */
function afterGroup(text: string, at: number, end: GroupEnd): number | undefined {
  let index = at;
  while (index < text.length && text[index] !== end) {
    const next = NESTS[end].includes(text.charAt(index)) ? afterInner(text, index) : index + 1;
    if (next === undefined) return undefined;
    index = next;
  }
  return index < text.length ? index + 1 : undefined;
}

function afterInner(text: string, at: number): number | undefined {
  return text[at] === '(' ? afterGroup(text, at + 1, ')') : afterPiece(text, at);
}

function afterNext(text: string, end: string, at: number): number | undefined {
  const found = text.indexOf(end, at);
  return found < 0 ? undefined : found + 1;
}

type GroupEnd = '"' | '`' | '}' | ')';

/** The characters that begin an inner group, by kind of group: a single quote has no meaning in double quotes. */
const NESTS: Readonly<Record<GroupEnd, string>> = {
  '"': '\\$`',
  '`': '\\',
  '}': '\\$`"\'',
  ')': '\\$`"\'(',
};
