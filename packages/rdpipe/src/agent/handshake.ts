/** Waits for an agent's first line and decodes its hello. */
import { SessionError } from '../model/errors.ts';
import type { Emit } from '../model/events.ts';
import { type AgentHello, PROTOCOL_VERSION } from '../model/protocol.ts';
import { printableBytes, shorten } from '../model/text.ts';
import { decodeHello } from './decode.ts';
import { closedError, type LineChannel, LONGEST_LINE_BYTES, withChannel } from './line-channel.ts';
import { LineTooLongError } from './lines.ts';

/** The first line of the agent, or of the script that searches for it. */
export type Handshake =
  | { readonly kind: 'hello'; readonly hello: AgentHello; readonly isDamaged: boolean }
  /** `isDamaged`: an agent was found that differs from the one that rdpipe installed. */
  | { readonly kind: 'missing'; readonly os: string; readonly cpu: string; readonly isDamaged: boolean };

interface HandshakeOptions {
  readonly emit: Emit;
  readonly signal: AbortSignal;
}

/**
 * Waits for the line with the nonce; earlier lines are output of the login shell.
 * @throws SessionError if the line does not arrive or is not a valid hello; the signal's reason.
 */
export async function awaitHello(lineChannel: LineChannel, { emit, signal }: HandshakeOptions): Promise<Handshake> {
  const { label } = lineChannel.session;
  try {
    return await withChannel(lineChannel, signal, async () => {
      const first = await findFirstLine(lineChannel, emit);
      if (!first.text.equals(DAMAGED)) return parseFirstLine(first, label);
      return { ...parseFirstLine(await findFirstLine(lineChannel, emit), label), isDamaged: true };
    });
  } catch (error) {
    throw error instanceof LineTooLongError ? noisyError(label) : error;
  }
}

/** A line before that of an agent in a later directory. */
const DAMAGED = Buffer.from('damaged');

/** The line with the nonce, `rdstage/PROTOCOL NONCE TEXT`, from `start` on. */
interface FirstLine {
  readonly start: number;
  readonly protocol: number;
  readonly text: Buffer;
}

/** The line may begin after other text, if the last output of the login shell has no newline. */
async function findFirstLine(lineChannel: LineChannel, emit: Emit): Promise<FirstLine> {
  const { lines, nonce, session } = lineChannel;
  let noiseBytes = 0;
  let firstNoise = '';
  while (noiseBytes <= LONGEST_LINE_BYTES) {
    const { value: line } = await lines.next();
    if (!line) throw await endedError(lineChannel, firstNoise);
    const first = findMagic(line, nonce);
    const noise = first === undefined ? line : line.subarray(0, first.start);
    firstNoise ||= printableBytes(noise).trim();
    if (noise.length > 0)
      emit({ kind: 'log', message: `${session.label}: before the agent: ${printableBytes(noise)}` });
    if (first !== undefined) return first;
    noiseBytes += noise.length + 1;
  }
  throw noisyError(session.label);
}

function findMagic(line: Buffer, nonce: string): FirstLine | undefined {
  const name = ` ${nonce} `;
  const end = line.indexOf(name);
  if (end < 0) return undefined;
  const magic = /rdstage\/(\d{1,5})$/.exec(line.toString('latin1', Math.max(0, end - MAGIC_MAX_BYTES), end));
  if (magic === null) return undefined;
  const text = line.subarray(end + name.length);
  return { start: end - magic[0].length, protocol: Number(magic[1]), text };
}

const MAGIC_MAX_BYTES = 'rdstage/65535'.length;

/** Accounts that may not run commands print a line: nologin, `command=` in authorized_keys. */
function endedError(lineChannel: LineChannel, firstNoise: string): Promise<Error> {
  const { label, checkCommand } = lineChannel.session;
  if (firstNoise === '') return closedError(lineChannel, 'no_agent', notStarted(label));
  const next = checkCommand === undefined ? '' : ` (compare with: ${checkCommand})`;
  const said = `the login shell printed '${shorten(firstNoise, NOISE_MAX_CHARACTERS)}' and exited${next}`;
  return closedError(lineChannel, 'no_shell', notStarted(label), said);
}

const NOISE_MAX_CHARACTERS = 200;

function parseFirstLine({ protocol, text }: FirstLine, label: string): Handshake {
  // The rest of the line may have any form in another version.
  if (protocol !== PROTOCOL_VERSION) throw versionError(label, protocol);
  const missing = /^missing (\S{1,64}) (\S{1,64})( damaged)?$/.exec(text.toString('utf8'));
  if (missing) {
    return { kind: 'missing', os: missing[1] ?? '', cpu: missing[2] ?? '', isDamaged: missing[3] !== undefined };
  }
  const hello = decodeHello(text);
  if (hello === undefined) {
    throw new SessionError('agent_protocol', label, `the agent on ${label} did not send a valid hello`);
  }
  if (hello.v !== PROTOCOL_VERSION) throw versionError(label, hello.v);
  return { kind: 'hello', hello, isDamaged: false };
}

/** rdpipe copies only its own version: this is the agent of --agent, or that of a serving receiver. */
function versionError(label: string, protocol: number): SessionError {
  const versions = `protocol ${protocol}; this rdpipe has ${PROTOCOL_VERSION}`;
  const next = 'install the same version of rdpipe there';
  return new SessionError(
    'agent_protocol',
    label,
    `the agent on ${label} has a different version: ${versions} (${next})`,
  );
}

/** The beginning of every message that an agent cannot be started. */
export function notStarted(label: string): string {
  return `cannot start the agent on ${label}`;
}

function noisyError(label: string): SessionError {
  return new SessionError(
    'no_agent',
    label,
    `${notStarted(label)}: the login shell keeps printing and never runs the agent`,
  );
}
