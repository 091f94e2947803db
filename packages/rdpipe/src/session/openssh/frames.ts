/** Frames of a control socket, and their fields in the encoding of SSH (RFC 4251, section 5). */
import type { Socket } from 'node:net';

/** A uint32, a boolean or a string of RFC 4251. */
export type Field = number | boolean | string | Buffer;

/** Returns the fields of a packet, one after the other. @throws RangeError at its end. */
export interface FieldReader {
  uint32(): number;
  boolean(): boolean;
  bytes(): Buffer;
}

/** Calls `take` with each frame, without its length. If that throws, or a frame is too long, ends the socket. */
export function readFrames(socket: Socket, take: (frame: Buffer) => void): void {
  let arrived = Buffer.alloc(0);
  const takeAll = () => {
    while (arrived.length >= UINT32_BYTES) {
      const end = UINT32_BYTES + arrived.readUInt32BE();
      if (end > FRAME_BYTES_MAX) throw new RangeError(`a frame of ${end} bytes`);
      if (arrived.length < end) return;
      const frame = arrived.subarray(UINT32_BYTES, end);
      arrived = arrived.subarray(end);
      take(frame);
    }
  };
  socket.on('data', (bytes: Buffer<ArrayBuffer>) => {
    arrived = arrived.length === 0 ? bytes : Buffer.concat([arrived, bytes]);
    try {
      takeAll();
    } catch {
      socket.destroy();
    }
  });
}

/** OpenSSH sends no longer ones (CHANNEL_MUX_MAX_PACKET). */
const FRAME_BYTES_MAX = 256 * 1024;
const UINT32_BYTES = 4;

/** Returns a frame with its length, a type and fields, in pieces: the bytes of a long field are not copied. */
export function encodeFrame(type: Buffer, ...fields: readonly Field[]): Buffer[] {
  const body = [type, ...fields.flatMap(encode)];
  const length = body.reduce((sum, piece) => sum + piece.length, 0);
  return [uint32(length), ...body];
}

function encode(field: Field): Buffer[] {
  if (typeof field === 'number') return [uint32(field)];
  if (typeof field === 'boolean') return [Buffer.from([field ? 1 : 0])];
  const bytes = typeof field === 'string' ? Buffer.from(field) : field;
  return [uint32(bytes.length), bytes];
}

export function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(UINT32_BYTES);
  bytes.writeUInt32BE(value);
  return bytes;
}

/** Returns a reader of the fields of a frame or packet. */
export function readFields(packet: Buffer): FieldReader {
  let at = 0;
  const take = (length: number): Buffer => {
    if (length > packet.length - at) throw new RangeError('a packet ends within a field');
    at += length;
    return packet.subarray(at - length, at);
  };
  const readUint32 = () => take(UINT32_BYTES).readUInt32BE();
  return { uint32: readUint32, boolean: () => take(1).readUInt8() !== 0, bytes: () => take(readUint32()) };
}
