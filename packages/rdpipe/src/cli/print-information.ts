/** Prints the text of `--help` and `--version` on standard output. */
import type { Invocation } from '../parse/argv.ts';
import { writeAll } from '../ui/terminal/terminal.ts';

type Information = Extract<Invocation, { readonly text: string }>;

/** Prints the text, and with `parts` the versions of the parts, whose module is loaded only then. */
export async function printInformation(information: Information): Promise<void> {
  writeAll(1, Buffer.from(information.text));
  if (information.kind !== 'version' || !information.parts) return;
  const { versionsOfParts } = await import('./versions-of-parts.ts');
  writeAll(1, Buffer.from(await versionsOfParts()));
}
