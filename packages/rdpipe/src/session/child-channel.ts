/** A channel to a child process. */
import type { Channel } from './host-session.ts';
import { killProgram, startPiped } from './start-program.ts';

/** A channel to a child process of this process. */
export interface ChildChannel extends Channel {
  /** Why the program could not be started, if it could not; known when `closed` has resolved. */
  startError(): Error | undefined;
  /** Sends SIGTERM to the program. */
  terminate(): void;
}

/**
 * Starts a program as a channel with three pipes. The program also gets the descriptors `inherited` of this process,
 * numbered from 3.
 * @throws as startProgram does.
 */
export function startChild(
  command: readonly string[],
  env: Readonly<Record<string, string | undefined>> = {},
  inherited: readonly number[] = [],
): ChildChannel {
  const child = startPiped(command, env, inherited);
  const { stdin, stdout, stderr } = child;
  for (const stream of [stdin, stdout, stderr]) stream.on('error', () => {});

  let startError: Error | undefined;
  const closed = new Promise<Awaited<Channel['closed']>>((resolve) => {
    child.once('exit', (code, signal) => resolve({ code, signal }));
    child.once('error', (error) => {
      startError = error;
      resolve({ code: null, signal: null });
    });
  });

  return {
    stdin,
    stdout,
    stderr,
    closed,
    startError: () => startError,
    terminate: () => void child.kill('SIGTERM'),
    kill() {
      killProgram(child);
      for (const stream of [stdin, stdout, stderr]) stream.destroy();
    },
  };
}
