/** Reads the lines of a file of patterns, in the syntax of gitignore(5). */
import type { CopyPattern } from './settings.ts';

/**
 * The patterns of a file, a binary string, in order. `!` begins a pattern that includes, `#` a comment; blanks at the
 * end of a line are ignored, except one after a backslash.
 */
export function readPatterns(text: string): readonly CopyPattern[] {
  return text
    .replace(/^\xef\xbb\xbf/, '')
    .split('\n')
    .map(withoutBlanks)
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) =>
      line.startsWith('!') ? { include: true, pattern: line.slice(1) } : { include: false, pattern: line },
    )
    .filter(({ pattern }) => pattern !== '');
}

function withoutBlanks(line: string): string {
  const [, kept = '', blanks = ''] = /^(.*?)( *)$/s.exec(line) ?? [];
  const backslashes = /\\*$/.exec(kept)?.[0].length ?? 0;
  return backslashes % 2 === 1 && blanks !== '' ? `${kept} ` : kept;
}
