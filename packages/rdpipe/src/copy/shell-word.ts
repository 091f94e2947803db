/** Quotes a path for the shell of a host, so that every byte of it stays. */

/** A binary string as one word; `~/` at its beginning stays the home directory. */
export function shellWord(path: string): string {
  const [, home = '', rest = ''] = /^(~\/|~$)?(.*)$/s.exec(path) ?? [];
  return rest === '' ? home : `${home}'${rest.replaceAll("'", `'\\''`)}'`;
}
