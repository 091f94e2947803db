import { readFileSync } from 'node:fs';

/** What an ssh with `-E PATH` printed so far, apart from the output of what it runs. */
export function readLog(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
