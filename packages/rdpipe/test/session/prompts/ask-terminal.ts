/** Asks on its terminal and writes the answer to a file; terminal.test.ts runs it in script(1). */
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { controllingTerminal } from '../../../src/session/prompts/terminal.ts';

const [file = '', how] = process.argv.slice(2);
// Waiting for a signal does not keep a process alive.
setInterval(() => {}, 1000);
const interrupted = once(process, 'SIGINT');
const answer = await controllingTerminal()?.ask('Question? ', how === 'echo', new AbortController().signal);
if (how === 'interrupted') await interrupted;
writeFileSync(file, JSON.stringify(answer ?? null));
process.exit();
