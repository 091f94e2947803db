/** A channel to a child process. */
import type { Channel } from './host-session.ts';
import { killProgram, startPiped } from './start-program.ts';

/** A channel whose far end is a child process of ours. */
export interface ChildChannel extends Channel {
  /** Why the program could not be started, if so; known when `closed` has resolved. */
  startError(): Error | undefined;
  /** Asks the program to end. */
  terminate(): void;
}

/**
 * Starts a program as a channel.
 * Three pipes are made; `inherited` are descriptors of ours that it gets as 3, 4, ….
 */
export function startChild(
  command: readonly string[],
  env: Readonly<Record<string, string | undefined>> = {},
  inherited: readonly (0 | 1)[] = [],
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
