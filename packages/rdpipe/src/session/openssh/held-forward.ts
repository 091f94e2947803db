/** A forward of a master that ends with its holder, because the master may outlive the run. */
import { settlesWithin, unlessAborted } from '../abort.ts';
import { type ChildChannel, startChild } from '../child-channel.ts';
import { keepTail } from '../text-tail.ts';
import { heldForwardArguments } from './arguments.ts';
import type { Master } from './master.ts';
import type { SshProgram } from './program.ts';

export interface HeldForward {
  /** The port that the server chose for `-R` with port 0; otherwise 0. */
  readonly port: number;
  /** Cancels the forward. Takes a bounded time. Idempotent. */
  close(): Promise<void>;
}

/** How long `close` waits; the cancellation may take longer if the master or the machine is slow. */
const LONGEST_END_MS = 2000;

/** Time limit for an answer of the master, after which the ssh that waits for it is ended. */
const LONGEST_ANSWER_S = 20;

/**
 * Adds a forward (`-L …` or `-R …`) to a master. `close` cancels it; so does the end of rdpipe, even by SIGKILL, if the
 * master still answers. Returns undefined if this machine or the server refused it.
 * @throws the signal's reason.
 */
export async function holdForward(
  ssh: SshProgram,
  master: Master,
  forwarding: readonly string[],
  signal: AbortSignal,
): Promise<HeldForward | undefined> {
  signal.throwIfAborted();
  const child = startChild(
    ['sh', '-c', HOLD, ssh.path, ...heldForwardArguments(master.controlPath, forwarding)],
    ssh.env,
  );
  const close = () => endChild(child);
  const answer = firstLine(child);
  try {
    const line = await unlessAborted(answer, signal);
    if (line !== undefined) return { port: Number(line), close };
    return undefined;
  } catch (error) {
    void close();
    throw error;
  }
}

/**
 * The script that holds a forward; its standard input ends with rdpipe. Even if the server chose the port, the forward
 * is cancelled with the arguments that requested it: ssh does not know it by the chosen port. The script is never
 * killed: a forward that it has added would remain.
 */
const HOLD = `trap '' PIPE
port=$(timeout ${LONGEST_ANSWER_S} "$0" -O forward "$@" </dev/null) || exit
echo "\${port:-0}"
read -r nothing
exec timeout ${LONGEST_ANSWER_S} "$0" -O cancel "$@" </dev/null >/dev/null 2>&1`;

/** Resolves with undefined if the program ended without a line. */
function firstLine({ stdout, stderr, closed }: ChildChannel): Promise<string | undefined> {
  const text = keepTail(stdout);
  keepTail(stderr);
  return new Promise((resolve) => {
    stdout.on('data', () => {
      if (text().includes('\n')) resolve(text().split('\n')[0]);
    });
    stdout.once('close', () => void closed.then(() => resolve(undefined)));
  });
}

async function endChild(child: ChildChannel): Promise<void> {
  child.stdin.end();
  await settlesWithin(child.closed, LONGEST_END_MS);
}
