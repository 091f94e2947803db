/** Runs the program from its source, as a process of its own. */
import { type SpawnSyncOptions, spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const MAIN = fileURLToPath(new URL('../../src/cli/main.ts', import.meta.url));
const TSX = import.meta.resolve('tsx');

export interface CliResult {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export function runCli(words: readonly string[], options: SpawnSyncOptions = {}): CliResult {
  const { status, stdout, stderr } = spawnSync(process.execPath, ['--import', TSX, MAIN, ...words], {
    stdio: ['ignore', 'pipe', 'pipe'],
    ...options,
    encoding: 'utf8',
  });
  return { status, stdout, stderr };
}
