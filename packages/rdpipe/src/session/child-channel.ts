import { execa } from 'execa';
import type { Channel } from './host-session.ts';
import { startRefused } from './start-refused.ts';

/** A channel whose far end is a child process of ours. */
export interface ChildChannel extends Channel {
  /** Why the program could not be started, if so; known when `closed` has resolved. */
  startError(): Error | undefined;
}

/**
 * Starts a program as a channel, in a session of its own so that Ctrl-C does not reach it.
 * Three pipes are made; `inherited` are descriptors of ours that it gets as 3, 4, ….
 */
export function startChild(
  command: readonly string[],
  env: Readonly<Record<string, string | undefined>> = {},
  inherited: readonly (0 | 1)[] = [],
): ChildChannel {
  const [program = '', ...args] = command;
  const child = start(program, args, env, inherited);
  const { stdin, stdout, stderr, pid } = child;
  if (stdin === null || stdout === null || stderr === null) throw new Error('pipes were asked for');
  for (const stream of [stdin, stdout, stderr]) stream.on('error', () => {});

  let ended = false;
  let startError: Error | undefined;
  const closed = new Promise<Awaited<Channel['closed']>>((resolve) => {
    child.once('exit', (code, signal) => resolve({ code, signal }));
    child.once('error', (error) => {
      startError = error;
      resolve({ code: null, signal: null });
    });
  }).finally(() => {
    ended = true;
  });

  return {
    stdin,
    stdout,
    stderr,
    closed,
    startError: () => startError,
    kill() {
      if (!ended && pid !== undefined) killGroup(pid);
      for (const stream of [stdin, stdout, stderr]) stream.destroy();
    },
  };
}

function start(
  program: string,
  args: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
  inherited: readonly (0 | 1)[],
) {
  try {
    return execa(program, args, {
      stdio: ['pipe', 'pipe', 'pipe', ...inherited],
      env,
      detached: true,
      buffer: false,
      reject: false,
      encoding: 'buffer',
    });
  } catch (error) {
    throw startRefused(program, error);
  }
}

/** The child leads a group of its own: what it started itself (a ProxyCommand) goes with it. */
function killGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // It has just ended.
  }
}
