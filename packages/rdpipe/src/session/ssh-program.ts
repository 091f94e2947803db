import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { killProgram, startProgram } from './start-program.ts';
import { keepTail } from './text-tail.ts';

export interface SshOutput {
  /** Null: it could not be started, or a signal ended it. */
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs ssh for an answer of its own (`-G`, `-O`), without input. */
export async function runSsh(args: readonly string[], signal: AbortSignal): Promise<SshOutput> {
  signal.throwIfAborted();
  const child = startProgram(['ssh', ...args], ['ignore', 'pipe', 'pipe']);
  const output = [child.stdout, child.stderr].map((stream) => stream && keepTail(stream, MOST_BYTES));
  const stop = () => killProgram(child);
  signal.addEventListener('abort', stop);
  const code = await new Promise<number | null>((resolve) => {
    child.once('close', resolve);
    child.once('error', () => resolve(null));
  });
  signal.removeEventListener('abort', stop);
  signal.throwIfAborted();
  const [stdout = '', stderr = ''] = output.map((text) => text?.());
  return { code, stdout, stderr };
}

const MOST_BYTES = 1024 * 1024;

/** Whether this machine has an OpenSSH client. */
export function hasSsh(path = process.env.PATH ?? ''): boolean {
  return path.split(delimiter).some((folder) => folder !== '' && existsSync(join(folder, 'ssh')));
}
