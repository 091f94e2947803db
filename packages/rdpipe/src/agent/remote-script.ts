/** Runs a script on a host and reads its answer. */
import type { HostSession } from '../session/host-session.ts';
import { closedError, createLineChannel, type LineChannel } from './line-channel.ts';

/** The last line that a script prints. */
export interface Answer {
  readonly ok: boolean;
  readonly text: string;
}

/** The standard input of a script, in the form that the script requested. */
export type Payload = (form: string) => Promise<Buffer>;

/**
 * Runs a script on its own channel. The script ends with `say ok TEXT` or `say failed TEXT`. With a payload, the script
 * calls `say ready FORM` before it reads standard input: a shell reads ahead and would consume the payload. `what`
 * begins the message of a failure.
 * @throws SessionError if the channel closes without an answer; the signal's reason.
 */
export async function runScript(
  session: HostSession,
  script: string,
  payload: Payload | undefined,
  signal: AbortSignal,
  what = `cannot copy the agent to ${session.label}`,
): Promise<Answer> {
  const lineChannel = createLineChannel(session, await session.openShell(signal));
  const { channel, nonce } = lineChannel;
  const end = () => channel.kill();
  signal.addEventListener('abort', end, { once: true });
  try {
    channel.stdin.write(wrap(script, nonce));
    const first = await nextLine(lineChannel, what);
    if (first.verb !== 'ready') return answerOf(first);
    channel.stdin.end(await payload?.(first.text));
    return answerOf(await nextLine(lineChannel, what));
  } catch (error) {
    signal.throwIfAborted();
    throw error;
  } finally {
    signal.removeEventListener('abort', end);
    channel.kill();
  }
}

/** The braces make a shell read the complete script before it runs any of it. */
function wrap(script: string, nonce: string): string {
  return `{
nonce=${nonce}
say() { printf '\\nrdpipe %s %s\\n' "$nonce" "$(printf '%s' "$*" | tr '\\n' ' ')"; }
${script}
}
`;
}

interface Line {
  readonly verb: string;
  readonly text: string;
}

async function nextLine(lineChannel: LineChannel, what: string): Promise<Line> {
  const prefix = `rdpipe ${lineChannel.nonce} `;
  for (;;) {
    const { value: line } = await lineChannel.lines.next();
    if (!line) throw await closedError(lineChannel, 'no_agent', what);
    const text = line.toString('utf8');
    if (!text.startsWith(prefix)) continue;
    const [verb = '', ...words] = text.slice(prefix.length).split(' ');
    return { verb, text: words.join(' ') };
  }
}

function answerOf({ verb, text: words }: Line): Answer {
  return { ok: verb === 'ok', text: words };
}
