/** The output of an `ssh -G` that rdssh's front started before node. Imports no library. */
import { closeSync, readFileSync } from 'node:fs';

interface Question {
  readonly fd: number;
  readonly words: readonly string[];
}

let asked: Question | undefined;

/** `value` has the descriptor of the output, then the arguments of ssh, one per line; undefined if there is none. */
export function keepConfigAnswer(value: string | undefined): void {
  const [fd = '', ...words] = value?.split('\n') ?? [];
  asked = /^\d+$/.test(fd) ? { fd: Number(fd), words } : undefined;
}

/**
 * Returns the complete output, once; undefined if the arguments are not `words`, or ssh failed. Blocks until ssh has
 * ended: nothing can be done without its output, and no program that is started meanwhile may inherit the descriptor.
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
