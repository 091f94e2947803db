/** A channel to an agent or a script on a host: its lines, its nonce and its standard error. */
import { randomBytes } from 'node:crypto';
import { SessionError, type SessionErrorCode } from '../model/errors.ts';
import { printable, shorten } from '../model/text.ts';
import { settlesWithin } from '../session/abort.ts';
import type { Channel, HostSession } from '../session/host-session.ts';
import { keepTail } from '../session/text-tail.ts';
import { readLines } from './lines.ts';

/** A channel and what is known about it. */
export interface LineChannel {
  readonly session: HostSession;
  readonly channel: Channel;
  /** Distinguishes lines of the agent or the script from any output of a login shell. */
  readonly nonce: string;
  /** Lines of standard output: each reader continues where the last one stopped. */
  readonly lines: AsyncGenerator<Buffer, void>;
  /** The end of standard error; complete when the channel has closed. */
  stderr(): string;
}

export const LONGEST_LINE_BYTES = 1024 * 1024;
const STDERR_END_MS = 1000;
const REASON_MAX_CHARACTERS = 1000;

/** Starts to collect the channel's standard error; its standard output is read as `lines` are taken. */
export function createLineChannel(session: HostSession, channel: Channel, nonce = newNonce()): LineChannel {
  const lines = readLines(channel.stdout, LONGEST_LINE_BYTES);
  return { session, channel, nonce, lines, stderr: keepTail(channel.stderr) };
}

/**
 * Runs `work`, which talks to the far end. An abort kills the channel, and so ends the wait for its lines; so does a
 * failure.
 * @throws the signal's reason; otherwise what `work` throws.
 */
export async function withChannel<Result>(
  { channel }: LineChannel,
  signal: AbortSignal,
  work: () => Promise<Result>,
): Promise<Result> {
  const end = () => channel.kill();
  signal.addEventListener('abort', end, { once: true });
  try {
    signal.throwIfAborted();
    return await work();
  } catch (error) {
    channel.kill();
    signal.throwIfAborted();
    throw error;
  } finally {
    signal.removeEventListener('abort', end);
  }
}

/** Returns 16 random bytes in hexadecimal. */
export function newNonce(): string {
  return randomBytes(16).toString('hex');
}

/**
 * Returns an error that explains why a channel closed unexpectedly: the session's failure, or the last line of standard
 * error. `what` begins the message (`cannot start the agent on h1`); `noReason` ends it if no reason is known.
 */
export async function closedError(
  { session, channel, stderr }: LineChannel,
  code: SessionErrorCode,
  what: string,
  noReason = 'it exited without a message',
): Promise<Error> {
  await settlesWithin(channel.closed, STDERR_END_MS);
  const failure = session.failure(channel);
  if (failure) return failure;
  const lines = stderr()
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
  const last = shorten(lines.at(-1) ?? noReason, REASON_MAX_CHARACTERS);
  return new SessionError(code, session.label, `${what}: ${printable(last)}`);
}
