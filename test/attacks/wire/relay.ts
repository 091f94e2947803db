// SPDX-License-Identifier: Apache-2.0
// A relay between a dialer and a listener:
// records every message (docs/protocol/wire.md, section 1), and lets a meddler replace its bytes.
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

export const LENGTH_BYTES = 4;
export const HEADER_BYTES = 24;

export const FRAME_TYPES = [
  'HANDSHAKE',
  'DATA',
  'END',
  'ABORT',
  'ACK',
  'DONE',
  'CLOSED',
  'PING',
  'PONG',
  'BYE',
  'RESUME',
] as const;
export type FrameType = (typeof FRAME_TYPES)[number] | 'UNKNOWN';

/** A message as received, with its length prefix. */
export interface Passing {
  readonly from: 'dialer' | 'listener';
  readonly type: FrameType;
  /** Number among the messages of its type from this end over this connection, from 0. */
  readonly index: number;
  readonly bytes: Buffer;
  /** Sends bytes to the end that sent this message. */
  reflect(bytes: Buffer): void;
}

/** Returns the bytes to forward in place of the message. */
export type Meddler = (passing: Passing) => Buffer;

export class Relay {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  readonly #passed: Passing[] = [];
  #meddler: Meddler = ({ bytes }) => bytes;

  private constructor(server: Server) {
    this.#server = server;
  }

  static async before(port: number): Promise<Relay> {
    const relay: Relay = new Relay(
      createServer((near) => relay.#join(near, connect({ port, host: '127.0.0.1', noDelay: true }))).listen(
        0,
        '127.0.0.1',
      ),
    );
    await once(relay.#server, 'listening');
    return relay;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** All messages of all connections so far. */
  get passed(): readonly Passing[] {
    return this.#passed;
  }

  meddle(meddler: Meddler): void {
    this.#meddler = meddler;
  }

  close(): void {
    this.#server.close();
    this.cut();
  }

  /** Closes all current connections; new ones are still accepted. */
  cut(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  #join(near: Socket, far: Socket): void {
    near.setNoDelay(true);
    this.#carry('dialer', near, far);
    this.#carry('listener', far, near);
  }

  #carry(from: Passing['from'], source: Socket, target: Socket): void {
    this.#sockets.add(source);
    const counts = new Map<FrameType, number>();
    let rest: Buffer = Buffer.alloc(0);
    source.on('data', (chunk) => {
      const { messages, remainder } = split(Buffer.concat([rest, chunk]));
      rest = remainder;
      for (const bytes of messages) {
        const type = typeOf(bytes);
        const index = counts.get(type) ?? 0;
        counts.set(type, index + 1);
        const passing = { from, type, index, bytes, reflect: (back: Buffer) => void source.write(back) };
        this.#passed.push(passing);
        target.write(this.#meddler(passing));
      }
    });
    source.on('end', () => target.end(rest)).on('error', () => target.destroy());
    source.on('close', () => this.#sockets.delete(source));
  }
}

/** The bytes that one end sent, from the recording of one connection. */
export function said(passed: readonly Passing[], from: Passing['from']): Buffer {
  return Buffer.concat(passed.filter((passing) => passing.from === from).map(({ bytes }) => bytes));
}

function split(bytes: Buffer): { messages: Buffer[]; remainder: Buffer } {
  const messages: Buffer[] = [];
  let at = 0;
  while (bytes.length - at >= LENGTH_BYTES) {
    const end = at + LENGTH_BYTES + bytes.readUInt32LE(at);
    if (end > bytes.length) break;
    messages.push(bytes.subarray(at, end));
    at = end;
  }
  return { messages, remainder: bytes.subarray(at) };
}

function typeOf(message: Buffer): FrameType {
  return FRAME_TYPES[(message[LENGTH_BYTES] ?? 0) - 1] ?? 'UNKNOWN';
}
