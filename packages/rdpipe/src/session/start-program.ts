/** Starts a program in a session of its own, and kills its group. */
import { type ChildProcess, type StdioOptions, spawn } from 'node:child_process';

/**
 * Starts a program in a session of its own, so that Ctrl-C does not reach it. `env` is added to our environment.
 * @throws where no descriptor is left for its pipes. Any other error is its `error` event.
 */
export function startProgram(
  command: readonly string[],
  stdio: StdioOptions,
  env: Readonly<Record<string, string | undefined>> = {},
): ChildProcess {
  const [program = '', ...args] = command;
  const child = spawn(program, args, { stdio, env: { ...process.env, ...env }, detached: true });
  if (child.stdin !== undefined) return child;
  // Node hands out a process without streams then, and reports the reason later.
  child.on('error', () => {});
  throw Object.assign(new Error(`spawn ${program} EMFILE`), { code: 'EMFILE' });
}

/** Kills it, and what it started itself (a ProxyCommand): it leads a group of its own. */
export function killProgram({ pid, exitCode, signalCode }: ChildProcess): void {
  if (pid === undefined || exitCode !== null || signalCode !== null) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // It has just ended.
  }
}
