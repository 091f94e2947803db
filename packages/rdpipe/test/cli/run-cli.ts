/** Runs the built program in a separate process, on the node of this process. */
import { join } from 'node:path';
import { ROOT } from '../../../../test/support/root.ts';
import { type Run, type RunOptions, runProgram } from '../../../../test/support/run-program.ts';

export function runCli(words: readonly string[], options: RunOptions = {}): Run {
  const env = { RDPIPE_NODE: process.execPath, ...options.env };
  return runProgram(join(ROOT, 'bin/rdpipe'), words, { stdin: 'ignore', ...options, env });
}
