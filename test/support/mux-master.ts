// SPDX-License-Identifier: Apache-2.0
// The control socket of an ssh in proxy mode, without a connection: its channels lead to the test.
import { createServer, type Server, type Socket } from 'node:net';
import { Duplex } from 'node:stream';
import {
  encodeFrame,
  type Field,
  type FieldReader,
  readFields,
  readFrames,
  uint32,
} from '../../packages/rdpipe/src/session/openssh/frames.ts';

/** The messages of RFC 4254 and of OpenSSH's PROTOCOL.mux that it knows. */
export const MESSAGE = {
  open: 90,
  confirmation: 91,
  openFailure: 92,
  adjust: 93,
  data: 94,
  extendedData: 95,
  eof: 96,
  close: 97,
  request: 98,
  success: 99,
  failure: 100,
} as const;
const HELLO = 1;
const VERSION = 4;
const GRANTED = 0x8000000f;
const WINDOW_BYTES = 2 * 1024 * 1024;
const PACKET_BYTES = 32 * 1024;
const NUMBER = 7;

/** One client of the master, after its hello. */
export interface MuxClient {
  readonly socket: Socket;
  send(type: number, ...fields: readonly Field[]): void;
}

/** Serves clients that request the proxy mode: `take` gets each packet. */
export function serveMuxMaster(take: (client: MuxClient, type: number, fields: FieldReader) => void): Server {
  return createServer((socket) => {
    socket.on('error', () => {});
    const send: MuxClient['send'] = (type, ...fields) =>
      void socket.write(Buffer.concat(encodeFrame(Buffer.from([0, type]), ...fields)));
    let isProxy = false;
    readFrames(socket, (frame) => {
      if (isProxy) return take({ socket, send }, frame.readUInt8(1), readFields(frame.subarray(2)));
      const fields = readFields(frame);
      if (fields.uint32() === HELLO) return;
      isProxy = true;
      socket.write(Buffer.concat(encodeFrame(uint32(GRANTED), fields.uint32())));
    });
    socket.write(Buffer.concat(encodeFrame(uint32(HELLO), VERSION)));
  });
}

/** Serves clients whose channel is a shell: `onShell` gets its far end. */
export function serveShells(onShell: (shell: Duplex) => void): Server {
  const shells = new WeakMap<Socket, Duplex>();
  return serveMuxMaster((client, type, fields) => {
    const shell = shells.get(client.socket);
    if (type === MESSAGE.open) {
      shells.set(client.socket, shellOf(client));
      client.send(MESSAGE.confirmation, 0, NUMBER, WINDOW_BYTES, PACKET_BYTES);
      return;
    }
    fields.uint32(); // our number
    if (type === MESSAGE.request && `${fields.bytes()}` === 'exec' && shell !== undefined) {
      client.send(MESSAGE.success, 0);
      onShell(shell);
    } else if (type === MESSAGE.data) {
      const bytes = fields.bytes();
      client.send(MESSAGE.adjust, 0, bytes.length);
      shell?.push(Buffer.from(bytes));
    } else if (type === MESSAGE.eof || type === MESSAGE.close) shell?.push(null);
  });
}

function shellOf({ socket, send }: MuxClient): Duplex {
  const shell = new Duplex({
    read() {},
    write(bytes: Buffer, _encoding, done) {
      send(MESSAGE.data, 0, bytes);
      done();
    },
    final(done) {
      send(MESSAGE.close, 0);
      done();
    },
  });
  socket.once('close', () => shell.destroy());
  return shell;
}
