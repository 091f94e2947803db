/** A channel read by lines, with its nonce and its standard error: an agent or a script behind it. */
import { randomBytes } from 'node:crypto';
import { SessionError, type SessionErrorCode } from '../model/errors.ts';
import { printable, shorten } from '../model/text.ts';
import { settlesWithin } from '../session/abort.ts';
import type { Channel, HostSession } from '../session/host-session.ts';
import { keepTail } from '../session/text-tail.ts';
import { readLines } from './lines.ts';

/** A channel that is to become an agent, and what is known of it. */
export interface LineChannel {
  readonly session: HostSession;
  readonly channel: Channel;
  /** Makes our lines unlike anything that a login shell prints. */
  readonly nonce: string;
  /** Its standard output: each reader goes on where the last one stopped. */
  readonly lines: AsyncGenerator<Buffer, void>;
  /** The end of its standard error, complete when the channel has closed. */
  stderr(): string;
}

export const LONGEST_LINE_BYTES = 1024 * 1024;
const STDERR_END_MS = 1000;
const REASON_MAX_CHARACTERS = 1000;

export function createLineChannel(session: HostSession, channel: Channel, nonce = newNonce()): LineChannel {
  const lines = readLines(channel.stdout, LONGEST_LINE_BYTES);
  return { session, channel, nonce, lines, stderr: keepTail(channel.stderr) };
}

export function newNonce(): string {
  return randomBytes(16).toString('hex');
}

/**
 * Why a channel closed that should not have: what its session knows, else the last line that the far end wrote.
 * `what` begins the message: `cannot start the agent on h1`; `silent` ends it where nothing more is known.
 */
export async function closedError(
  { session, channel, stderr }: LineChannel,
  code: SessionErrorCode,
  what: string,
  noReason = 'it exited without a message',
): Promise<Error> {
  await settlesWithin(channel.closed, STDERR_END_MS);
  const failure = session.failure();
  if (failure) return failure;
  const lines = stderr()
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
  const last = shorten(lines.at(-1) ?? noReason, REASON_MAX_CHARACTERS);
  return new SessionError(code, session.label, `${what}: ${printable(last)}`);
}
