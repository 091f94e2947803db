/** Matches ssh's patterns: `*` and `?` are wildcards, `!` excludes. */
export function matchesPatterns(host: string, patterns: readonly string[]): boolean {
  const matching = patterns.filter((pattern) => expressionOf(pattern.replace(/^!/, '')).test(host));
  return matching.length > 0 && !matching.some((pattern) => pattern.startsWith('!'));
}

function expressionOf(pattern: string): RegExp {
  const source = pattern
    .replace(/[.+^${}()|[\]\\]/g, '\\$&')
    .replaceAll('*', '.*')
    .replaceAll('?', '.');
  return new RegExp(`^${source}$`, 'i');
}
