/** Writes names of hosts as a list that the command line accepts: n1, n2, n3 and x as `n[1-3],x`. Pure. */

interface Numbered {
  readonly before: string;
  readonly digits: string;
  readonly after: string;
}

/**
 * Joins names that differ only in their last number, in ascending order; others stay as they are. `rdgather` does the
 * same for folded outputs.
 */
export function foldHosts(names: readonly string[]): string {
  const groups = new Map<string, [Numbered, ...Numbered[]] | string>();
  const padded = new Set(names.flatMap((name) => paddedKey(name)));
  for (const name of new Set(names)) {
    const numbered = numberedName(name);
    const key = numbered === undefined ? name : groupKey(numbered, padded);
    const group = groups.get(key);
    if (numbered === undefined) groups.set(key, name);
    else if (typeof group === 'object') group.push(numbered);
    else groups.set(key, [numbered]);
  }
  return [...groups.values()].map((group) => (typeof group === 'string' ? group : joined(group))).join(',');
}

/** The number is the last one of the name. Addresses of IPv6 stay as they are. */
function numberedName(name: string): Numbered | undefined {
  const [, before = '', digits = '', after = ''] = /^([^[:]*?)(\d{1,9})([^[:\d]*)$/s.exec(name) ?? [];
  return digits === '' || /\d$/.test(before) ? undefined : { before, digits, after };
}

function paddedKey(name: string): readonly string[] {
  const numbered = numberedName(name);
  return numbered !== undefined && /^0\d/.test(numbered.digits) ? [widthKey(numbered)] : [];
}

/** 10 follows 09 in n[09-10], but not 9 in n[9-10]: numbers as wide as one with leading zeros belong to it. */
function groupKey(numbered: Numbered, padded: ReadonlySet<string>): string {
  const key = widthKey(numbered);
  return padded.has(key) ? key : JSON.stringify([numbered.before, numbered.after]);
}

function widthKey({ before, digits, after }: Numbered): string {
  return JSON.stringify([before, after, digits.length]);
}

function joined(group: readonly [Numbered, ...Numbered[]]): string {
  const [{ before, digits, after }, ...others] = group;
  if (others.length === 0) return `${before}${digits}${after}`;
  const sorted = group.map((one) => one.digits).sort((one, other) => Number(one) - Number(other));
  return `${before}[${ranges(sorted).join(',')}]${after}`;
}

function ranges(sorted: readonly string[]): readonly string[] {
  const found: [first: string, last: string][] = [];
  for (const digits of sorted) {
    const range = found.at(-1);
    if (range !== undefined && Number(digits) === Number(range[1]) + 1) range[1] = digits;
    else found.push([digits, digits]);
  }
  return found.map(([first, last]) => (first === last ? first : `${first}-${last}`));
}
