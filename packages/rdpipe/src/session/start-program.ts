/** Starts a program in its own session, and kills its process group. */
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { Readable, Writable } from 'node:stream';
import { execa, type Subprocess } from 'execa';
import { RdpipeError, reasonOf } from '../model/errors.ts';

/** A started program: the streams, the exit and the `error` event of node's ChildProcess. */
export type Program = Subprocess;

export type PipedProgram = Program & Readonly<{ stdin: Writable; stdout: Readable; stderr: Readable }>;

type Standard = 'pipe' | 'ignore' | 'inherit';

/** Descriptors 0, 1, 2, … of the program; a number is a descriptor of this process. */
export type Stdio = readonly [stdin: Standard, stdout: Standard, stderr: Standard, ...inherited: number[]];

/**
 * Starts a program in its own session, so that Ctrl-C does not reach it; without `detached`, in the session of this
 * process. Adds `env` to the environment of this process.
 * The output must get a reader before this turn of the event loop is over: output without a reader is discarded.
 * @throws if no descriptor is left for the pipes, or the working directory cannot be entered. Any other failure to
 * start is in the `error` event.
 */
export function startProgram(
  [program = '', ...args]: readonly string[],
  stdio: Stdio,
  env: Readonly<NodeJS.ProcessEnv> = {},
  options: { readonly detached: boolean } = { detached: true },
): Program {
  requireDirectory();
  // If no descriptor is left, node creates a process without streams: execa throws at once, and the process emits the
  // reason later.
  subscribe(NEW_PROCESS, ignoreErrors);
  try {
    // The types of execa do not allow other numbers in a list; node does.
    const child = execa(program, args, { ...PLAIN, ...options, stdio: stdio as InheritedStdio, env });
    // If node refuses to start the program at all (its arguments are too long), execa's process emits nothing.
    if (child.spawnfile === null) void child.then(({ cause }) => child.emit('error', cause));
    return child;
  } catch (cause) {
    throw Object.assign(new Error(`spawn ${program} EMFILE`, { cause }), { code: 'EMFILE' });
  } finally {
    unsubscribe(NEW_PROCESS, ignoreErrors);
  }
}

/** execa has each program enter the working directory, which was removed or belongs to another user (sudo -u). */
function requireDirectory(): void {
  try {
    process.chdir(process.cwd());
  } catch (cause) {
    const reason = reasonOf(cause as NodeJS.ErrnoException);
    const message = `this machine: cannot enter the working directory: ${reason} (start from another one: cd /)`;
    throw new RdpipeError('working_directory', 125, 'rdpipe', message, { cause });
  }
}

type InheritedStdio = readonly [Standard, Standard, Standard, ...(0 | 1)[]];

const NEW_PROCESS = 'child_process';

function ignoreErrors(message: unknown): void {
  (message as { readonly process: Program }).process.on('error', () => {});
}

/** Like node's spawn: execa collects nothing, kills nothing, and drops its result, which quotes the command line. */
const PLAIN = {
  cleanup: false,
  forceKillAfterDelay: false,
  buffer: false,
  encoding: 'buffer',
  reject: false,
  verbose: 'none',
} as const;

/**
 * Starts a program with three pipes; it gets the descriptors `inherited` of this process as 3, 4, ….
 * @throws as startProgram does.
 */
export function startPiped(
  command: readonly string[],
  env: Readonly<NodeJS.ProcessEnv> = {},
  inherited: readonly number[] = [],
): PipedProgram {
  return startProgram(command, ['pipe', 'pipe', 'pipe', ...inherited], env) as PipedProgram;
}

/** Kills the program and the processes that it started (such as a ProxyCommand), which are in its own process group. */
export function killProgram({ pid, exitCode, signalCode }: Program): void {
  if (pid === undefined || exitCode !== null || signalCode !== null) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // The program has just ended.
  }
}
