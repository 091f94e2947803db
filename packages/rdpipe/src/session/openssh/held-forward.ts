/** A forward of a master that ends with its holder: the master itself may outlive the run. */
import { settlesWithin, unlessAborted } from '../abort.ts';
import { type ChildChannel, startChild } from '../child-channel.ts';
import { keepTail } from '../text-tail.ts';
import { heldForwardArguments } from './arguments.ts';
import type { Master } from './master.ts';
import type { SshProgram } from './program.ts';

export interface HeldForward {
  /** The port that the server chose for a `-R` with port 0; else 0. */
  readonly port: number;
  /** Bounded, idempotent. */
  close(): Promise<void>;
}

/** How long a caller waits for the end; it may take longer where the master or the machine is slow. */
const LONGEST_END_MS = 2000;

/** A master that does not answer holds no program of ours for longer. */
const LONGEST_ANSWER_S = 20;

/**
 * Adds a forward (`-L …` or `-R …`) to a master. It is cancelled by `close`, and also when rdpipe is killed, as far as
 * the master still answers. Undefined: this machine or the server refused it.
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
 * Its standard input ends with rdpipe. A port that the server chose is cancelled by the words that asked for it: ssh
 * knows no forward by the port that was given. It is never killed: a forward that it has added would stay.
 */
const HOLD = `trap '' PIPE
port=$(timeout ${LONGEST_ANSWER_S} "$0" -O forward "$@" </dev/null) || exit
echo "\${port:-0}"
read -r nothing
exec timeout ${LONGEST_ANSWER_S} "$0" -O cancel "$@" </dev/null >/dev/null 2>&1`;

/** Undefined: it ended without one. */
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
