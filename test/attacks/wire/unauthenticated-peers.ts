// SPDX-License-Identifier: Apache-2.0
// Peers without the key, and the bytes that each sends on a connection.
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { connect as connectTls } from 'node:tls';
import { lots, processSeed } from '../../support/sample.ts';
import type { Behaviour } from './connection-flood.ts';
import { HEADER_BYTES, LENGTH_BYTES } from './relay.ts';

export interface UnauthenticatedPeer {
  readonly name: string;
  /** Number of these peers at once. */
  readonly size: number;
  /** Number of connections after which the attack is at full strength. */
  readonly connections: number;
  readonly behave: Behaviour;
}

const NOISE = noise(1 << 20);

/** A handshake record with one message whose length field is 0xffffff. */
const HUGE_GREETING = Buffer.concat([Buffer.from('1603010200' + '01ffffff', 'hex'), Buffer.alloc(508)]);

const clientHello = await clientHelloWithoutKey();

export const UNAUTHENTICATED_PEERS: readonly UnauthenticatedPeer[] = [
  { name: 'sends nothing', size: 500, connections: 500, behave: () => {} },
  { name: 'sends one byte per second', size: 60, connections: 60, behave: drip },
  { name: 'connects and closes at once', size: 50, connections: 200, behave: (socket) => socket.destroy() },
  { name: 'closes its half', size: 100, connections: 200, behave: (socket) => socket.end() },
  { name: 'resets', size: 50, connections: 200, behave: (socket) => socket.resetAndDestroy() },
  { name: 'sends noise at line rate', size: 4, connections: 50, behave: flood },
  ...[0, 1, HEADER_BYTES - 1, 16385, 2 ** 31, 2 ** 32 - 1].map((length) =>
    says(`announces ${length} bytes`, uint32(length)),
  ),
  says('speaks HTTP', Buffer.from('GET / HTTP/1.1\r\nHost: h\r\n\r\n')),
  says('sends an unknown frame', message(Buffer.alloc(HEADER_BYTES, 0x7f))),
  says('sends an empty handshake', message(frame(1))),
  says('begins with DATA', message(frame(2, Buffer.from('x')))),
  says('begins with a sealed PING', message(frame(8, Buffer.alloc(16), 1))),
  says('sends the largest handshake', message(frame(1, NOISE.subarray(0, 16384 - HEADER_BYTES)))),
  says('sends TLS without a key', message(frame(1, clientHello))),
  { ...says('sends half of a TLS greeting', message(frame(1, clientHello.subarray(0, 60)))), size: 100 },
  says('announces a TLS greeting of 16 MiB', message(frame(1, HUGE_GREETING))),
];

/** Random bytes from the seed that the run prints. */
function noise(bytes: number): Buffer {
  const next = lots(processSeed());
  return Buffer.from(Uint32Array.from({ length: bytes / 4 }, next).buffer);
}

function says(name: string, bytes: Buffer): UnauthenticatedPeer {
  return { name, size: 20, connections: 200, behave: (socket) => void socket.write(bytes) };
}

/** Announces a short message and sends one byte of it per second. */
function drip(socket: Socket): void {
  socket.write(uint32(1000));
  const timer = setInterval(() => socket.write('x'), 1000).unref();
  socket.once('close', () => clearInterval(timer));
}

function flood(socket: Socket): void {
  const more = (): void => {
    while (!socket.destroyed && socket.write(NOISE));
  };
  socket.on('drain', more);
  more();
}

function frame(type: number, payload: Buffer = Buffer.alloc(0), flags = 0): Buffer {
  const header = Buffer.alloc(HEADER_BYTES);
  header[0] = type;
  header[1] = flags;
  return Buffer.concat([header, payload]);
}

function message(bytes: Buffer): Buffer {
  return Buffer.concat([uint32(bytes.length), bytes]);
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(LENGTH_BYTES);
  bytes.writeUInt32LE(value);
  return bytes;
}

/** The first message of a TLS client that expects a certificate. */
async function clientHelloWithoutKey(): Promise<Buffer> {
  const said = new Duplex({
    read: () => {},
    write(chunk: Buffer, _encoding, done) {
      said.emit('said', chunk);
      done();
    },
  });
  const heard = once(said, 'said');
  const client = connectTls({ socket: said, minVersion: 'TLSv1.3' }).on('error', () => {});
  const [clientHello] = await heard;
  client.destroy();
  return clientHello;
}
