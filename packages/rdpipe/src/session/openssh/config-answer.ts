/** The answer of an `ssh -G` that rdssh's front started before node. Loads no library. */
import { closeSync, readFileSync } from 'node:fs';

interface Question {
  readonly fd: number;
  readonly words: readonly string[];
}

let asked: Question | undefined;

/** `value`: the descriptor of the answer and the words of the question, a line each. */
export function keepConfigAnswer(value: string | undefined): void {
  const [fd = '', ...words] = value?.split('\n') ?? [];
  asked = /^\d+$/.test(fd) ? { fd: Number(fd), words } : undefined;
}

/**
 * The whole output, once; undefined: something else was asked, or ssh failed. Waits for it: nothing can be done without
 * it, and no program started meanwhile may inherit the descriptor.
 */
export function takeConfigAnswer(words: readonly string[]): string | undefined {
  if (asked === undefined) return undefined;
  const { fd, words: askedFor } = asked;
  asked = undefined;
  try {
    const isSame = askedFor.length === words.length && words.every((word, index) => word === askedFor[index]);
    const text = isSame ? readFileSync(fd, 'utf8') : '';
    return text.endsWith('\0') ? text.slice(0, -1) : undefined;
  } catch {
    return undefined;
  } finally {
    close(fd);
  }
}

function close(fd: number): void {
  try {
    closeSync(fd);
  } catch {}
}
