/** Where an agent is kept on a host, as shell text that the scripts there share. */

/** Directories of ours on a host, in the order in which they are tried. Each word is empty where its variable is. */
export const PLACES: readonly string[] = [
  '"${HOME:+$HOME/.cache/rdpipe}"',
  '"${XDG_RUNTIME_DIR:+$XDG_RUNTIME_DIR/rdpipe}"',
  '"/var/tmp/rdpipe-$(id -u)"',
];

/**
 * Defines `is_private DIR`: a directory, not a link to one, that is ours and that nobody else may enter.
 * Anything else in a place where others may write could be somebody's trap.
 */
export const IS_PRIVATE = `is_private() {
  set -- $(ls -ldn -- "$1" 2>/dev/null)
  case $1 in drwx------+*) return 1 ;; drwx------*) [ "$3" = "$(id -u)" ] ;; *) return 1 ;; esac
}`;

/** A word that sh takes as it is, whatever it holds. */
export function quoteForSh(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`;
}
