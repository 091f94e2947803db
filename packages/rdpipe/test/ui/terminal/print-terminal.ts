/** Writes to standard error as rdpipe does; with `flood` after making it non-blocking, as another program might. */
import { readFileSync } from 'node:fs';
import { EVENT_MS } from '../../../../../test/support/patience.ts';
import { openTerminal, writeAll } from '../../../src/ui/terminal/terminal.ts';

const O_NONBLOCK = 0o4000;

if (process.argv[2] === 'flood') process.stderr.write('');
const terminal = openTerminal(process.env);

if (process.argv[2] === 'flood') {
  if (blocks()) terminal.write('the pipe blocks');
  writeAll(2, Buffer.from('x'.repeat(1_000_000)), EVENT_MS);
} else {
  terminal.write(
    `${JSON.stringify({ terminal: terminal.stream !== undefined, color: terminal.color, blocks: blocks() })}\n`,
  );
}

function blocks(): boolean {
  const flags = /^flags:\s+(\d+)$/m.exec(readFileSync('/proc/self/fdinfo/2', 'utf8'))?.[1] ?? '';
  return (Number.parseInt(flags, 8) & O_NONBLOCK) === 0;
}
