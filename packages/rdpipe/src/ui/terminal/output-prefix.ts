/** The name before a line of one of several hosts on the user's terminal. */
import { isatty } from 'node:tty';
import { createColors } from './colors.ts';
import type { Terminal } from './terminal.ts';

/** Returns undefined if the output is not a terminal. Call this only after `protectPayload`, as for `createColors`. */
export async function outputPrefix({
  color,
}: Pick<Terminal, 'color'>): Promise<((name: string) => string) | undefined> {
  if (!color || !isatty(1)) return undefined;
  const { speaker } = await createColors(true);
  return (name) => speaker(`${name}: `);
}
