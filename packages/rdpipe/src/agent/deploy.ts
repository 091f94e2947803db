/** Copies the agent and its programs to a host, through the shell in which the agent then starts. */
import type { Writable } from 'node:stream';
import { SessionError } from '../model/errors.ts';
import type { Emit } from '../model/events.ts';
import { printable } from '../model/text.ts';
import { unlessAborted } from '../session/abort.ts';
import type { Bundle } from './bundle.ts';
import { type Copies, createCopies } from './copies.ts';
import { deployScript } from './deploy-script.ts';
import type { LineChannel } from './line-channel.ts';
import { compressedPayload, payloadFor } from './payload.ts';
import { nextAnswer, sendScript } from './remote-script.ts';

interface DeployOptions {
  readonly emit: Emit;
  readonly signal: AbortSignal;
}

const COPIES = createCopies();

/**
 * Installs a bundle in the first directory of the host in which programs can be written and run. The shell at the other
 * end must have nothing left to run, and afterwards reads another script.
 * @throws SessionError `no_agent` with the reason for each directory; the signal's reason.
 */
export async function deploy(
  lineChannel: LineChannel,
  bundle: Bundle,
  { emit, signal }: DeployOptions,
  copies: Copies = COPIES,
): Promise<void> {
  const { channel, nonce } = lineChannel;
  const end = () => channel.kill();
  signal.addEventListener('abort', end, { once: true });
  try {
    signal.throwIfAborted();
    await copies.track(nonce, () => converse(lineChannel, bundle, { emit, signal }, copies));
  } catch (error) {
    channel.kill();
    signal.throwIfAborted();
    throw error;
  } finally {
    signal.removeEventListener('abort', end);
  }
}

async function converse(
  lineChannel: LineChannel,
  bundle: Bundle,
  { emit, signal }: DeployOptions,
  copies: Copies,
): Promise<void> {
  const { label } = lineChannel.session;
  const { stdin } = lineChannel.channel;
  const what = `cannot copy the agent to ${label}`;
  const log = (text: string) => emit({ kind: 'log', message: `${label}: ${text}` });
  const complaints: string[] = [];
  sendScript(lineChannel, deployScript(bundle, copies.run));
  compressedPayload(bundle).catch(() => {}); // while the script starts; a failure is reported when it is sent
  for (let answers = 0; answers < ANSWERS_MAX; answers++) {
    const { verb, text } = await nextAnswer(lineChannel, what);
    if (verb === 'ok') return;
    if (verb === 'ready') {
      const payload = await payloadFor(text, bundle);
      sendPayload(stdin, payload, (copied) => emit({ kind: 'deploying', host: label, bytes: payload.length, copied }));
    } else if (verb === 'busy') {
      log('waiting for another host with the same directory to get the agent');
      if (text !== lineChannel.nonce) await unlessAborted(copies.ended(text), signal);
      stdin.write(`${text}\n`);
    } else if (verb === 'refused') {
      complaints.push(printable(text));
      log(printable(text));
    } else break;
  }
  const message = `${what}: ${complaints.join('; ')} (if it is installed there, use --agent PATH)`;
  throw new SessionError('no_agent', label, message);
}

/** More than a script prints: a host may send any number of lines. */
const ANSWERS_MAX = 100;

/** Reports the bytes that the session has taken: none, then a few times per second, then all. */
function sendPayload(stdin: Writable, payload: Buffer, report: (copied: number) => void): void {
  let reportedAt = performance.now();
  report(0);
  stdin.write(`${payload.length}\n`);
  for (let start = 0; start < payload.length; start += PIECE_BYTES) {
    const copied = Math.min(start + PIECE_BYTES, payload.length);
    stdin.write(payload.subarray(start, copied), () => {
      if (copied < payload.length && performance.now() - reportedAt < REPORT_MS) return;
      reportedAt = performance.now();
      report(copied);
    });
  }
}

const PIECE_BYTES = 64 * 1024;
const REPORT_MS = 250;
