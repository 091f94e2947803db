/** Reads the lines of a file of patterns, as gitignore(5) has them. */
import type { CopyPattern } from './settings.ts';

/**
 * The patterns of a file, a binary string, in order. `!` makes one that includes, `#` a comment; blanks at the end of a
 * line do not count unless a backslash stands before them.
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
