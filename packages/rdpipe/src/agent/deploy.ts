/** Copies the agent and its programs to a host, through the shell in which the agent then starts. */
import type { Writable } from 'node:stream';
import { SessionError } from '../model/errors.ts';
import type { Emit } from '../model/events.ts';
import { printable } from '../model/text.ts';
import { unlessAborted } from '../session/abort.ts';
import type { Bundle } from './bundle.ts';
import type { Copies } from './copies.ts';
import { deployScript } from './deploy-script.ts';
import { type LineChannel, withChannel } from './line-channel.ts';
import { compressedPayload, payloadFor } from './payload.ts';
import type { Offer, ProgramSources, Turn } from './program-sources.ts';
import { nextAnswer, sendScript } from './remote-script.ts';

interface DeployOptions {
  /** The copies of this run. */
  readonly copies: Copies;
  readonly sources: ProgramSources;
  readonly emit: Emit;
  readonly signal: AbortSignal;
}

/**
 * Installs a bundle in the first directory of the host in which programs can be written and run; it gets the files from
 * one of the sources. The shell at the other end must have nothing left to
 * run, and afterwards reads another script. Returns the turn of the host if it needed the files: the caller ends it.
 * @throws SessionError `no_agent` with the reason for each directory; the signal's reason.
 */
export async function deploy(
  lineChannel: LineChannel,
  bundle: Bundle,
  options: DeployOptions,
): Promise<Turn | undefined> {
  return withChannel(lineChannel, options.signal, () =>
    options.copies.track(lineChannel.nonce, () => converse(lineChannel, bundle, options)),
  );
}

async function converse(
  lineChannel: LineChannel,
  bundle: Bundle,
  { copies, sources, emit, signal }: DeployOptions,
): Promise<Turn | undefined> {
  const { label } = lineChannel.session;
  const { stdin } = lineChannel.channel;
  const what = `cannot copy the agent to ${label}`;
  const log = (text: string) => emit({ kind: 'log', message: `${label}: ${text}` });
  const complaints: string[] = [];
  let turn: Turn | undefined;
  sendScript(lineChannel, deployScript(bundle, copies.run));
  compressedPayload(bundle).catch(() => {}); // while the script starts; a failure is reported when it is sent
  try {
    for (let answers = 0; answers < ANSWERS_MAX; answers++) {
      const { verb, text } = await nextAnswer(lineChannel, what);
      if (verb === 'ok') return turn;
      // Anything else than another `ready` comes after the files.
      turn?.end(verb === 'ready' ? 'failed' : 'worked');
      turn = undefined;
      if (verb === 'ready') {
        turn = await sources.take(bundle.digest, OR_FETCH.test(text), signal);
        await supply(lineChannel, bundle, text.replace(OR_FETCH, ''), turn.offer, emit);
      } else if (verb === 'busy') {
        log('waiting for another host with the same directory to get the agent');
        if (text !== lineChannel.nonce) await unlessAborted(copies.ended(text), signal);
        stdin.write(`${text}\n`);
      } else if (verb === 'refused') {
        complaints.push(printable(text));
        log(printable(text));
      } else break;
    }
  } catch (error) {
    turn?.end('lost');
    throw error;
  }
  const message = `${what}: ${complaints.join('; ')} (if it is installed there, use --agent PATH)`;
  throw new SessionError('no_agent', label, message);
}

/** After the program that unpacks the files: the host can also get them from another one. */
const OR_FETCH = / or fetch$/;

/** Answers `ready`: sends the files, or tells from where the host gets them. */
async function supply(
  { session: { label }, channel: { stdin } }: LineChannel,
  bundle: Bundle,
  unpack: string,
  offer: Offer | undefined,
  emit: Emit,
): Promise<void> {
  if (offer !== undefined) {
    emit({ kind: 'log', message: `${label}: gets the programs from ${offer.label}` });
    stdin.write(`fetch ${offer.address} ${offer.port} ${offer.token}\n`);
    return;
  }
  const payload = await payloadFor(unpack, bundle);
  sendPayload(stdin, payload, (copied) => emit({ kind: 'deploying', host: label, bytes: payload.length, copied }));
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
