/** Quotes words for a POSIX shell, which then takes them literally. */

/** The word in single quotes; it may contain any characters. */
export function quoteForSh(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`;
}

/** The word, in quotes only if it needs them. */
export function wordForSh(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : quoteForSh(word);
}

/** A path on a host, a binary string, in quotes; a leading `~/` still means the home directory. */
export function pathForSh(path: string): string {
  const [, home = '', rest = ''] = /^(~\/|~$)?(.*)$/s.exec(path) ?? [];
  return rest === '' ? home : `${home}${quoteForSh(rest)}`;
}
