import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { execa } from 'execa';

export interface SshOutput {
  readonly code: number | undefined;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs ssh for an answer of its own (`-G`, `-O`), without input. */
export async function runSsh(args: readonly string[], signal: AbortSignal): Promise<SshOutput> {
  const result = await execa('ssh', args, {
    stdin: 'ignore',
    detached: true,
    reject: false,
    cancelSignal: signal,
    maxBuffer: 1024 * 1024,
  });
  signal.throwIfAborted();
  return { code: result.exitCode, stdout: result.stdout, stderr: result.stderr };
}

/** Whether this machine has an OpenSSH client. */
export function hasSsh(path = process.env.PATH ?? ''): boolean {
  return path.split(delimiter).some((folder) => folder !== '' && existsSync(join(folder, 'ssh')));
}
