/** Inserts the patterns of --exclude-from files among those of the command line, in order. */
import { readFile } from 'node:fs/promises';
import { readPatterns } from '../copy/patterns.ts';
import type { CopyPattern } from '../copy/settings.ts';
import { UsageError } from '../model/errors.ts';
import type { PatternRule } from '../model/option-row.ts';

/** The patterns of all rules, in order. @throws UsageError if a file cannot be read or contains a NUL byte. */
export async function loadPatterns(rules: readonly PatternRule[]): Promise<readonly CopyPattern[]> {
  const loaded = await Promise.all(rules.map(load));
  return loaded.flat();
}

async function load(rule: PatternRule): Promise<readonly CopyPattern[]> {
  if (rule.kind !== 'file') return [{ include: rule.kind === 'include', pattern: rule.pattern }];
  try {
    const patterns = readPatterns(await readFile(rule.file, 'latin1'));
    if (patterns.some(({ pattern }) => pattern.includes('\0')))
      throw new UsageError(`${rule.file} contains a NUL byte`);
    return patterns;
  } catch (error) {
    if (error instanceof UsageError) throw error;
    const { code, message } = error as NodeJS.ErrnoException;
    throw new UsageError(`--exclude-from: cannot read ${rule.file}: ${code ?? message}`);
  }
}
