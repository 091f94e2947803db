/** Starts a program in a session of its own, and kills its group. */
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { Readable, Writable } from 'node:stream';
import { execa, type Subprocess } from 'execa';

/** A started program: the streams, the end and the `error` event of node's ChildProcess. */
export type Program = Subprocess;

export type PipedProgram = Program & Readonly<{ stdin: Writable; stdout: Readable; stderr: Readable }>;

type Standard = 'pipe' | 'ignore' | 'inherit';

/** Of descriptors 0, 1, 2, …; a number is a descriptor of ours. */
export type Stdio = readonly [stdin: Standard, stdout: Standard, stderr: Standard, ...inherited: (0 | 1)[]];

/**
 * Starts a program in a session of its own, so that Ctrl-C does not reach it; not `detached`: in ours.
 * `env` is added to our environment.
 * Its output must get a reader before this turn of the event loop is over: output without one is discarded.
 * @throws where no descriptor is left for its pipes. Any other reason why it did not start is in its `error` event.
 */
export function startProgram(
  [program = '', ...args]: readonly string[],
  stdio: Stdio,
  env: Readonly<NodeJS.ProcessEnv> = {},
  options: { readonly detached: boolean } = { detached: true },
): Program {
  // Where no descriptor is left, node makes a process without streams:
  // execa throws at once, and the process emits the reason later.
  subscribe(NEW_PROCESS, ignoreErrors);
  try {
    const child = execa(program, args, { ...PLAIN, ...options, stdio, env });
    // Node refused to start it at all (its arguments are too long): then execa's process emits nothing by itself.
    if (child.spawnfile === null) void child.then(({ cause }) => child.emit('error', cause));
    return child;
  } catch (cause) {
    throw Object.assign(new Error(`spawn ${program} EMFILE`, { cause }), { code: 'EMFILE' });
  } finally {
    unsubscribe(NEW_PROCESS, ignoreErrors);
  }
}

const NEW_PROCESS = 'child_process';

function ignoreErrors(message: unknown): void {
  (message as { readonly process: Program }).process.on('error', () => {});
}

/** As node alone: execa collects nothing, kills nothing, and drops its result, which quotes the command line. */
const PLAIN = {
  cleanup: false,
  forceKillAfterDelay: false,
  buffer: false,
  encoding: 'buffer',
  reject: false,
  verbose: 'none',
} as const;

/** Starts it with three pipes; it gets our descriptors `inherited` as 3, 4, …. @throws as startProgram does. */
export function startPiped(
  command: readonly string[],
  env: Readonly<NodeJS.ProcessEnv> = {},
  inherited: readonly (0 | 1)[] = [],
): PipedProgram {
  return startProgram(command, ['pipe', 'pipe', 'pipe', ...inherited], env) as PipedProgram;
}

/** Kills it, and what it started itself (a ProxyCommand): it leads a group of its own. */
export function killProgram({ pid, exitCode, signalCode }: Program): void {
  if (pid === undefined || exitCode !== null || signalCode !== null) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // It has just ended.
  }
}
