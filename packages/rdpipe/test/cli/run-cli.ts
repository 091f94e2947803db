/** Runs the program from its source, as a process of its own. */
import { fileURLToPath } from 'node:url';
import { type Run, type RunOptions, runProgram } from '../../../../test/support/run-program.ts';

const MAIN = fileURLToPath(new URL('../../src/cli/main.ts', import.meta.url));
const TSX = import.meta.resolve('tsx');

export function runCli(words: readonly string[], options: RunOptions = {}): Run {
  return runProgram(process.execPath, ['--import', TSX, MAIN, ...words], { stdin: 'ignore', ...options });
}
