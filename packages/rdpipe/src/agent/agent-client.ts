/** The client of a running agent: requests, events, lease, end. */
import { SessionError } from '../model/errors.ts';
import type { AgentEvent, AgentHello, AgentRequest } from '../model/protocol.ts';
import { printable } from '../model/text.ts';
import { settlesWithin } from '../session/abort.ts';
import { type Agent, END_LIMIT_MS } from './agent.ts';
import { decodeEvent } from './decode.ts';
import { type Lease, watchLease } from './lease.ts';
import { closedError, type LineChannel } from './line-channel.ts';
import { LineTooLongError } from './lines.ts';

/**
 * Limit of unsent bytes, in addition to the longest request: no run queues as many unless the agent stopped reading.
 */
const UNREAD_BYTES_MAX = 4 * 1024 * 1024;

/**
 * Returns the client of a running agent. `lineChannel` must have received `hello`; `endLimitMs` is the most that
 * `close` waits.
 */
export function createAgent(
  lineChannel: LineChannel,
  hello: AgentHello,
  startMs: number,
  leaseMs: number,
  endLimitMs = END_LIMIT_MS,
): Agent {
  const { session, channel } = lineChannel;
  let longestBytes = 0;
  const isStalled = () => channel.stdin.writableLength > UNREAD_BYTES_MAX + longestBytes;
  const write = (request: AgentRequest) => {
    const line = Buffer.from(`${JSON.stringify(request)}\n`);
    longestBytes = Math.max(longestBytes, line.length);
    if (channel.stdin.writable) channel.stdin.write(line);
    if (isStalled()) channel.kill();
  };
  const lease = watchLease(leaseMs, {
    ping: () => write({ op: 'ping' }),
    // Closing the channel ends its lines, and so the wait for the next line.
    expire: () => channel.kill(),
  });
  let endBeganAt: number | undefined;
  return {
    label: session.label,
    hello,
    startMs,
    send(request) {
      lease.sent(request);
      if (request.op === 'finish' || request.op === 'abort') endBeganAt ??= performance.now();
      write(request);
    },
    events: () => readEvents(lineChannel, lease, isStalled),
    async close() {
      lease.stop();
      // Some launchers do not pass on the end of the input.
      if (endBeganAt === undefined) write({ op: 'abort', reason: 'rdpipe closed the connection' });
      channel.stdin.end();
      const endingMs = endBeganAt === undefined ? 0 : performance.now() - endBeganAt;
      await settlesWithin(channel.closed, Math.max(0, endLimitMs - endingMs));
      channel.kill();
    },
  };
}

/**
 * Yields the agent's events, see `Agent.events`. If the caller stops reading before the end, the agent's channel
 * closes.
 */
async function* readEvents(
  lineChannel: LineChannel,
  lease: Lease,
  isStalled: () => boolean,
): AsyncGenerator<AgentEvent, void> {
  const { session, lines, channel } = lineChannel;
  let isOver = false;
  try {
    for (;;) {
      const line = await nextLine(lineChannel);
      if (lease.expired()) throw silentError(session.label, lease.ms);
      if (line === undefined) break;
      lease.received();
      const event = decodeEvent(line);
      if (event === undefined) throw protocolError(lineChannel, line);
      isOver = event.event === 'ended';
      if (event.event !== 'alive') yield event;
      if (isOver) return void lines.return();
    }
    if (isStalled()) throw stalledError(session.label);
    throw await closedError(lineChannel, 'session_lost', `lost the agent on ${session.label}`);
  } finally {
    if (!isOver) channel.kill();
  }
}

async function nextLine({ lines, session }: LineChannel): Promise<Buffer | undefined> {
  try {
    const { value } = await lines.next();
    return value ?? undefined;
  } catch (error) {
    // A channel error is reported like the end of the channel.
    if (!(error instanceof LineTooLongError)) return undefined;
    throw new SessionError(
      'agent_protocol',
      session.label,
      `the agent on ${session.label} sent a line that is too long`,
    );
  }
}

function protocolError({ session }: LineChannel, line: Buffer): SessionError {
  const shown = printable(line.toString('utf8', 0, 80));
  return new SessionError(
    'agent_protocol',
    session.label,
    `the agent on ${session.label} sent an invalid message: ${shown}`,
  );
}

function stalledError(label: string): SessionError {
  return new SessionError('agent_protocol', label, `the agent on ${label} is not reading requests`);
}

function silentError(label: string, leaseMs: number): SessionError {
  return new SessionError('session_lost', label, `lost ${label}: it sent nothing for ${leaseMs / 1000} s`);
}
