/**
 * The proxy mode of a master's control socket (OpenSSH 7.4; section 7 of its PROTOCOL.mux).
 * The client exchanges packets of SSH's connection protocol (RFC 4254) with the server; the master encrypts them.
 */
import { connect, type Socket } from 'node:net';
import { unlessAborted } from '../abort.ts';
import { encodeFrame, type Field, type FieldReader, readFields, readFrames, uint32 } from './frames.ts';

/** A control socket in proxy mode. */
export interface MuxProxy {
  send(type: number, ...fields: readonly Field[]): void;
  /** Calls `done` when the master has taken all that was sent so far, or the socket is closed. */
  whenTaken(done: () => void): void;
  /** True if the master does not keep up with what is sent. */
  hasBacklog(): boolean;
  /** Calls only this function for the packets that follow; if it throws, the socket ends. */
  read(take: (packet: Packet) => void): void;
  /** Closes the socket at once; the master may still read what was sent before. Idempotent. */
  close(): void;
  /** Resolves when the socket is closed, at either end; never rejects. */
  readonly closed: Promise<unknown>;
}

export interface Packet {
  readonly type: number;
  readonly fields: FieldReader;
}

/**
 * Connects to a master and puts the connection into proxy mode; returns undefined if nothing listens there, or if it
 * does not support that.
 * @throws the signal's reason.
 */
export async function connectMuxProxy(controlPath: string, signal: AbortSignal): Promise<MuxProxy | undefined> {
  const socket = connect(controlPath).on('error', () => {});
  const closed = new Promise<void>((resolve) => {
    socket.once('close', () => resolve());
  });
  let take = (_frame: Buffer) => {};
  readFrames(socket, (frame) => take(frame));
  const granted = new Promise<boolean>((resolve) => {
    void closed.then(() => resolve(false));
    // The master says hello before it answers.
    take = (frame) => {
      const fields = readFields(frame);
      const type = fields.uint32();
      if (type !== HELLO) resolve(type === PROXY_GRANTED && fields.uint32() === REQUEST);
    };
  });
  socket.write(Buffer.concat([...encodeFrame(uint32(HELLO), VERSION), ...encodeFrame(uint32(PROXY), REQUEST)]));
  const isGranted = await unlessAborted(granted, signal).catch(() => false);
  if (!isGranted) socket.destroy();
  signal.throwIfAborted();
  if (!isGranted) return undefined;
  const read: MuxProxy['read'] = (listener) => {
    take = (frame) => listener({ type: frame.readUInt8(1), fields: readFields(frame.subarray(2)) });
  };
  return { ...createSender(socket), read, closed };
}

const HELLO = 1;
const VERSION = 4;
const PROXY = 0x1000000f;
const PROXY_GRANTED = 0x8000000f;
const REQUEST = 0;

const BACKLOG_BYTES = 64 * 1024;

/** All packets of one turn of the event loop are written at once. */
function createSender(socket: Socket): Omit<MuxProxy, 'read' | 'closed'> {
  let unsent: Buffer[] = [];
  let waiting: (() => void)[] = [];
  const flush = () => {
    if (unsent.length === 0) return;
    const taken = waiting;
    socket.write(Buffer.concat(unsent), () => {
      for (const done of taken) done();
    });
    unsent = [];
    waiting = [];
  };
  return {
    send(type, ...fields) {
      if (unsent.length === 0) process.nextTick(flush);
      // Before the type: the length of the padding, which is 0.
      unsent.push(...encodeFrame(Buffer.from([0, type]), ...fields));
    },
    whenTaken(done) {
      if (unsent.length > 0) waiting.push(done);
      else done();
    },
    hasBacklog: () => socket.writableLength > BACKLOG_BYTES,
    close() {
      flush();
      socket.destroy();
    },
  };
}
