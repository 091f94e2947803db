/** Words for a POSIX shell, which takes them as they are. */

/** In quotes, whatever it holds. */
export function quoteForSh(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`;
}

/** In quotes where it needs them. */
export function wordForSh(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : quoteForSh(word);
}

/** A path on a host, a binary string; `~/` at its beginning stays the home directory. */
export function pathForSh(path: string): string {
  const [, home = '', rest = ''] = /^(~\/|~$)?(.*)$/s.exec(path) ?? [];
  return rest === '' ? home : `${home}${quoteForSh(rest)}`;
}
