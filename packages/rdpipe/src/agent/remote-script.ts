/** Runs a script on a host and reads its answers. */
import { settlesWithin } from '../session/abort.ts';
import type { HostSession } from '../session/host-session.ts';
import { closedError, createLineChannel, type LineChannel, withChannel } from './line-channel.ts';

/** A line that a script prints with `say VERB TEXT`. */
export interface Answer {
  readonly verb: string;
  readonly text: string;
}

/**
 * Runs a script on its own channel and returns its answer. `what` begins the message of a failure.
 * @throws SessionError if the channel closes without an answer; the signal's reason.
 */
export async function runScript(
  session: HostSession,
  script: string,
  signal: AbortSignal,
  what: string,
): Promise<Answer> {
  const lineChannel = createLineChannel(session, await session.openShell(signal));
  try {
    return await withChannel(lineChannel, signal, () => {
      sendScript(lineChannel, `${script}\nexit`);
      return nextAnswer(lineChannel, what);
    });
  } finally {
    lineChannel.channel.kill();
  }
}

/** Ends a shell that has nothing left to run, also if its launcher does not pass on the end of the input. */
export async function endShell({ channel }: LineChannel): Promise<void> {
  channel.stdin.end('exit\n');
  await settlesWithin(channel.closed, END_LIMIT_MS);
  channel.kill();
}

const END_LIMIT_MS = 1000;

/**
 * Sends a script to a shell. The braces make the shell read the complete script before it runs any of it. Send nothing
 * more until the script asks for it: a shell reads ahead and would consume it.
 */
export function sendScript({ channel, nonce }: LineChannel, script: string): void {
  channel.stdin.write(`{
nonce=${nonce}
say() { printf '\\nrdpipe %s %s\\n' "$nonce" "$(printf '%s' "$*" | tr '\\n' ' ')"; }
${script}
}
`);
}

/**
 * Returns the script's next answer; other lines are ignored.
 * @throws SessionError if the channel closes first.
 */
export async function nextAnswer(lineChannel: LineChannel, what: string): Promise<Answer> {
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
