import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { execa } from 'execa';
import { startRefused } from './start-refused.ts';

export interface SshOutput {
  readonly code: number | undefined;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs ssh for an answer of its own (`-G`, `-O`), without input. */
export async function runSsh(args: readonly string[], signal: AbortSignal): Promise<SshOutput> {
  const result = await start(args, signal);
  signal.throwIfAborted();
  return { code: result.exitCode, stdout: result.stdout, stderr: result.stderr };
}

function start(args: readonly string[], signal: AbortSignal) {
  try {
    return execa('ssh', args, {
      stdin: 'ignore',
      detached: true,
      reject: false,
      cancelSignal: signal,
      maxBuffer: 1024 * 1024,
    });
  } catch (error) {
    throw startRefused('ssh', error);
  }
}

/** Whether this machine has an OpenSSH client. */
export function hasSsh(path = process.env.PATH ?? ''): boolean {
  return path.split(delimiter).some((folder) => folder !== '' && existsSync(join(folder, 'ssh')));
}
