/** A channel that rdpipe itself opens through a master, in the master's proxy mode. */
import { Readable, Writable } from 'node:stream';
import { printableBytes } from '../../model/text.ts';
import { unlessAborted } from '../abort.ts';
import type { Channel } from '../host-session.ts';
import type { FieldReader } from './frames.ts';
import { connectMuxProxy, type MuxProxy, type Packet } from './mux-proxy.ts';

/** A channel, and why it ended: that is known when `closed` has resolved. */
export interface ShellChannel extends Channel {
  /** True if neither end closed it: the connection may be lost. */
  isCut(): boolean;
  /** Why the server did not run the shell; empty if it did, or if the reason is not known. */
  refusal(): string;
}

/** The requests of the user's configuration for the commands of a host. */
export interface ShellRequest {
  readonly environment: Readonly<Record<string, string>>;
  readonly forwardsAgent: boolean;
}

/**
 * Runs `sh` on the host. Returns undefined if this master must be used through an ssh.
 * @throws RefusedError if the server refuses the channel; the signal's reason.
 */
export async function openProxyChannel(
  controlPath: string,
  request: ShellRequest,
  signal: AbortSignal,
): Promise<ShellChannel | undefined> {
  const proxy = await connectMuxProxy(controlPath, signal);
  if (proxy === undefined) return undefined;
  const opening = openChannel(proxy, request);
  try {
    return await unlessAborted(opening, signal);
  } catch (error) {
    opening.then((channel) => channel.kill()).catch(() => {});
    throw error;
  }
}

/**
 * The socket of a channel that the server does not open stays open until the master ends: OpenSSH 9.2 ends the
 * connection (`chan_send_close2: no remote_id`) if it is closed.
 */
function openChannel(proxy: MuxProxy, request: ShellRequest): Promise<ShellChannel> {
  return new Promise((resolve, reject) => {
    void proxy.closed.then(() => reject(new RefusedError('the connection ended')));
    proxy.read((answer) => {
      try {
        const far = readConfirmation(answer);
        resolve(createChannel(proxy, far));
        requestShell(proxy, far, request);
      } catch (error) {
        reject(error);
      }
    });
    proxy.send(OPEN, 'session', OWN_NUMBER, WINDOW_BYTES, PACKET_BYTES);
  });
}

/** The server refused a channel, or the connection ended. */
export class RefusedError extends Error {}

/** RFC 4254, section 9. */
const OPEN = 90;
const OPEN_CONFIRMATION = 91;
const OPEN_FAILURE = 92;
const WINDOW_ADJUST = 93;
const DATA = 94;
const EXTENDED_DATA = 95;
const EOF = 96;
const CLOSE = 97;
const REQUEST = 98;
const FAILURE = 100;

const OWN_NUMBER = 0;
/** As in OpenSSH. */
const PACKET_BYTES = 32 * 1024;
/** Each server takes more. */
const PACKET_BYTES_MIN = 1024;
const WINDOW_BYTES = 64 * PACKET_BYTES;

/** The server's end of the channel. */
interface FarEnd {
  readonly number: number;
  readonly windowBytes: number;
  readonly packetBytes: number;
}

function readConfirmation({ type, fields }: Packet): FarEnd {
  fields.uint32(); // our number
  if (type === OPEN_CONFIRMATION) {
    return { number: fields.uint32(), windowBytes: fields.uint32(), packetBytes: fields.uint32() };
  }
  if (type !== OPEN_FAILURE) throw new RefusedError(`packet ${type} instead of an answer`);
  fields.uint32(); // a code, which the text explains
  throw new RefusedError(printableBytes(fields.bytes()));
}

function requestShell({ send }: MuxProxy, { number }: FarEnd, { environment, forwardsAgent }: ShellRequest): void {
  if (forwardsAgent) send(REQUEST, number, 'auth-agent-req@openssh.com', false);
  for (const [name, value] of Object.entries(environment)) send(REQUEST, number, 'env', false, name, value);
  send(REQUEST, number, 'exec', true, 'sh');
}

function createChannel(proxy: MuxProxy, far: FarEnd): ShellChannel {
  const input = createInput(proxy, far);
  const window = createWindow(proxy, far);
  const [output, errors] = [createOutput(window), createOutput(window)];
  const streams = [input.stream, output.stream, errors.stream];
  for (const stream of streams) stream.on('error', () => {});
  let status: Awaited<Channel['closed']> = { code: null, signal: null };
  let isCut = true;
  let refusal = '';

  const end = () => {
    isCut = false;
    proxy.send(CLOSE, far.number);
    proxy.close();
  };
  proxy.read(({ type, fields }) => {
    if (type < WINDOW_ADJUST || type > FAILURE) return; // not about a channel
    fields.uint32(); // our number
    switch (type) {
      case WINDOW_ADJUST:
        input.widen(fields.uint32());
        return;
      case DATA:
        output.take(fields.bytes());
        return;
      case EXTENDED_DATA:
        fields.uint32(); // its kind: there is only standard error
        errors.take(fields.bytes());
        return;
      case EOF:
        for (const side of [output, errors]) side.stream.push(null);
        return;
      case REQUEST: {
        const name = fields.bytes().toString();
        // The server's keepalive. It gets no answers if it does not read them.
        if (fields.boolean() && !proxy.hasBacklog()) proxy.send(FAILURE, far.number);
        if (name === 'eow@openssh.com') input.stream.destroy(); // the shell reads no more
        status = statusOf(name, fields) ?? status;
        return;
      }
      case FAILURE:
        refusal = 'it did not run the shell';
        end();
        return;
      case CLOSE:
        end();
        return;
      default:
    }
  });
  const closed = proxy.closed.then(() => {
    input.stream.destroy();
    for (const side of [output, errors]) side.stream.push(null);
    return status;
  });

  return {
    stdin: input.stream,
    stdout: output.stream,
    stderr: errors.stream,
    closed,
    isCut: () => isCut,
    refusal: () => refusal,
    kill() {
      for (const stream of streams) stream.destroy();
      end();
    },
  };
}

/** Returns the status that a request of the server reports, if it is such a request. */
function statusOf(request: string, fields: FieldReader): Awaited<Channel['closed']> | undefined {
  if (request === 'exit-status') return { code: fields.uint32(), signal: null };
  return request === 'exit-signal' ? { code: null, signal: `SIG${printableBytes(fields.bytes())}` } : undefined;
}

interface Input {
  readonly stream: Writable;
  /** The far end takes so many bytes more. */
  widen(bytes: number): void;
}

function createInput(proxy: MuxProxy, far: FarEnd): Input {
  const packetBytes = Math.max(PACKET_BYTES_MIN, Math.min(far.packetBytes, PACKET_BYTES));
  let { windowBytes } = far;
  let waiting: Buffer = Buffer.alloc(0);
  let taken: (() => void) | undefined;
  const send = () => {
    while (waiting.length > 0 && windowBytes > 0) {
      const piece = waiting.subarray(0, Math.min(windowBytes, packetBytes));
      proxy.send(DATA, far.number, piece);
      windowBytes -= piece.length;
      waiting = waiting.subarray(piece.length);
    }
    if (waiting.length > 0) return;
    if (taken !== undefined) proxy.whenTaken(taken);
    taken = undefined;
  };
  const stream = new Writable({
    write(bytes: Buffer, _encoding, done) {
      waiting = bytes;
      taken = done;
      send();
    },
    final(done) {
      proxy.send(EOF, far.number);
      done();
    },
  });
  const widen = (bytes: number) => {
    windowBytes += bytes;
    send();
  };
  return { stream, widen };
}

interface Output {
  readonly stream: Readable;
  take(bytes: Buffer): void;
}

function createOutput(window: Window): Output {
  let unread = 0;
  const read = () => {
    window.open(unread);
    unread = 0;
  };
  const stream = new Readable({ read });
  const take = (bytes: Buffer) => {
    window.use(bytes.length);
    unread += bytes.length;
    stream.push(bytes);
    if (stream.destroyed) read();
  };
  return { stream, take };
}

/** The number of bytes that the server may send, on both outputs, until some were read. */
interface Window {
  /** @throws RangeError if the server sent more. */
  use(bytes: number): void;
  open(bytes: number): void;
}

function createWindow(proxy: MuxProxy, far: FarEnd): Window {
  let left = WINDOW_BYTES;
  let read = 0;
  return {
    use(bytes) {
      left -= bytes;
      if (left < 0) throw new RangeError('the server ignores the window');
    },
    open(bytes) {
      read += bytes;
      if (read < WINDOW_BYTES / 2) return;
      proxy.send(WINDOW_ADJUST, far.number, read);
      left += read;
      read = 0;
    },
  };
}
