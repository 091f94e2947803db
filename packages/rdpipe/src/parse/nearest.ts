/** Finds the name that was probably meant by a mistyped one. */

/** The nearest of `names`, the first of equally near ones; undefined: none is near. */
export function nearest(word: string, names: readonly string[]): string | undefined {
  const begun = names.find((name) => word !== '' && (name.startsWith(word) || word.startsWith(name)));
  if (begun !== undefined) return begun;
  const found = names
    .map((name) => ({ name, distance: distance(word, name) }))
    .filter(({ name, distance }) => distance <= Math.ceil(name.length / 3))
    .sort((left, right) => left.distance - right.distance);
  return found[0]?.name;
}

/** Levenshtein distance: the number of letters that were left out, added or replaced. */
function distance(left: string, right: string): number {
  let row = Array.from({ length: right.length + 1 }, (_, index) => index);
  for (const [line, letter] of [...left].entries()) {
    const next = [line + 1];
    for (let at = 1; at <= right.length; at += 1) {
      const replaced = (row[at - 1] ?? 0) + (right[at - 1] === letter ? 0 : 1);
      next.push(Math.min(replaced, (row[at] ?? 0) + 1, (next[at - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}
