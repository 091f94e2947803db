import { randomBytes } from 'node:crypto';
import { closeSync, fsyncSync, openSync, realpathSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';

type Pages = typeof import('../ui/pages.ts');

/**
 * Writes a page, whole or not at all; in the place of a file that is there, or to what is there and no file.
 * @returns why it could not, in one line.
 */
export async function writePage(file: string, draw: (pages: Pages) => string): Promise<string | undefined> {
  try {
    const text = draw(await import('../ui/pages.ts'));
    if (isFileOrNothing(file)) replace(file, text);
    else writeFileSync(file, text);
    return undefined;
  } catch (error) {
    return `cannot write the report to ${file}: ${error instanceof Error ? error.message : String(error)}`;
  }
}

/** A device or a named pipe is written to; a file in its place would be of no use. */
function isFileOrNothing(file: string): boolean {
  return statSync(file, { throwIfNoEntry: false })?.isFile() ?? true;
}

/** At once: no signal of the user's comes between and leaves half of it behind. */
function replace(file: string, text: string): void {
  const target = behindLinks(file);
  const temporary = `${target}.${randomBytes(4).toString('hex')}.tmp`;
  const descriptor = openSync(temporary, 'wx', 0o666);
  try {
    try {
      writeFileSync(descriptor, text);
      fsyncSync(descriptor);
    } finally {
      closeSync(descriptor);
    }
    renameSync(temporary, target);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
}

function behindLinks(file: string): string {
  return statSync(file, { throwIfNoEntry: false }) === undefined ? file : realpathSync(file);
}
