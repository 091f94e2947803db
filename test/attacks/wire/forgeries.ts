// SPDX-License-Identifier: Apache-2.0
// Attacks on frames by a relay that knows docs/protocol/wire.md, and the required outcome of each.
// rdsend dials.
import { FRAME_TYPES, HEADER_BYTES, LENGTH_BYTES, type Meddler, type Relay } from './relay.ts';
import type { Encryption } from './standalone-hop.ts';

/**
 * The end that detects the damage and ends the hop. `lost`: both ends lose their peer. `late`: the receiver may have
 * finished before the change arrives. `counted`: only the number of frames is wrong; either end detects it, unless the
 * stream ends first.
 */
export type Verdict = 'receiver' | 'sender' | 'lost' | 'late' | 'counted';

export interface Attack {
  readonly name: string;
  /** Returns the meddler of one hop. */
  readonly attack: (relay: Relay) => Meddler;
  readonly onClear: Verdict;
  readonly onSealed: Verdict;
}

export function verdictOn({ onClear, onSealed }: Attack, encrypt: Encryption): Verdict {
  return encrypt === 'never' || encrypt === 'auto' ? onClear : onSealed;
}

const FLAGS_AT = LENGTH_BYTES + 1;
const OFFSET_AT = LENGTH_BYTES + 8;
const SEQUENCE_AT = LENGTH_BYTES + 16;
export const PAYLOAD_AT = LENGTH_BYTES + HEADER_BYTES;

const SEALED = 1;
const COMPRESSED = 2;
const TAG_BYTES = 16;
const CUT_AFTER_BYTES = 4096;
/** The window has four frames: the receiver has written some of the stream when this frame arrives. */
const FRAME_OF_THE_CUT = 6;

export const ATTACKS: readonly Attack[] = [
  // name, attack, verdict if unencrypted, verdict if sealed
  row('flips the flag SEALED of a frame', onData(flag(SEALED)), 'receiver', 'receiver'),
  row('flips the flag COMPRESSED of a frame', onData(flag(COMPRESSED)), 'receiver', 'receiver'),
  row('splits a frame and sends its tail as the next one', onData(inTwo), 'counted', 'receiver'),
  row('sends a frame again as the next one', onData(twice), 'receiver', 'receiver'),
  row('swaps the payloads of two frames of equal length', swap, 'receiver', 'receiver'),
  row('replays a frame of a broken connection in the next one', replay(false), 'receiver', 'receiver'),
  row('puts the payload of a broken connection into a frame of the next one', replay(true), 'receiver', 'receiver'),
  row('ends the stream between two frames', truncate, 'lost', 'lost'),
  row('forges an END', forgedBefore('END', 20), 'receiver', 'receiver'),
  row('forges an END in place of the true one', forgedEnd, 'receiver', 'receiver'),
  row('forges an ABORT of the sender', forgedBefore('ABORT', 8), 'receiver', 'receiver'),
  row('forges an ABORT of the receiver', forgedBack('ABORT', 8), 'sender', 'sender'),
  row('forges an ACK', forgedBack('ACK', 8), 'sender', 'sender'),
  row('forges a DONE', forgedBack('DONE', 0), 'sender', 'sender'),
  row('forges a CLOSED', forgedBack('CLOSED', 0), 'sender', 'sender'),
  row('forges a RESUME', forgedBack('RESUME', 0), 'sender', 'sender'),
  row('adds a frame after END', behindEnd(forged('DATA', 100)), 'late', 'late'),
  row('adds bytes after END', behindEnd(Buffer.from('more')), 'late', 'late'),
];

function row(name: string, attack: Attack['attack'], onClear: Verdict, onSealed: Verdict): Attack {
  return { name, attack, onClear, onSealed };
}

/** Changes the second DATA frame: if frames are numbered, its number is not 0. */
export function onData(change: (bytes: Buffer) => Buffer): Attack['attack'] {
  return () =>
    ({ type, index, bytes }) =>
      type === 'DATA' && index === 1 ? change(bytes) : bytes;
}

function flag(bit: number): (bytes: Buffer) => Buffer {
  return (bytes) => {
    const changed = Buffer.from(bytes);
    changed[FLAGS_AT] = (changed[FLAGS_AT] ?? 0) ^ bit;
    return changed;
  };
}

function inTwo(bytes: Buffer): Buffer {
  const cut = PAYLOAD_AT + CUT_AFTER_BYTES;
  const tail = Buffer.concat([bytes.subarray(0, PAYLOAD_AT), bytes.subarray(cut)]);
  return Buffer.concat([withLength(bytes.subarray(0, cut)), withLength(moved(tail, CUT_AFTER_BYTES))]);
}

function twice(bytes: Buffer): Buffer {
  const tagBytes = isNumbered(bytes) ? TAG_BYTES : 0;
  return Buffer.concat([bytes, moved(bytes, bytes.length - PAYLOAD_AT - tagBytes)]);
}

/** Returns the frame moved by so many bytes in the stream, with the next number if frames are numbered. */
function moved(frame: Buffer, bytes: number): Buffer {
  const next = Buffer.from(frame);
  next.writeBigUInt64LE(frame.readBigUInt64LE(OFFSET_AT) + BigInt(bytes), OFFSET_AT);
  if (isNumbered(frame)) next.writeBigUInt64LE(frame.readBigUInt64LE(SEQUENCE_AT) + 1n, SEQUENCE_AT);
  return next;
}

export function isSealed(frame: Buffer): boolean {
  return ((frame[FLAGS_AT] ?? 0) & SEALED) !== 0;
}

function isNumbered(frame: Buffer): boolean {
  return frame.readBigUInt64LE(SEQUENCE_AT) !== 0n;
}

function swap(): Meddler {
  let first: Buffer = Buffer.alloc(0);
  return ({ type, index, bytes }) => {
    if (type !== 'DATA' || index === 0 || index > 2) return bytes;
    if (index === 2) return Buffer.concat([carrying(first, bytes), carrying(bytes, first)]);
    first = bytes;
    return Buffer.alloc(0);
  };
}

/**
 * Sends the first frame of a connection that was cut again at the beginning of the next; `dressed`: after the header of
 * that connection's frame.
 */
function replay(dressed: boolean): Attack['attack'] {
  return (relay) => {
    let connections = 0;
    let old: Buffer = Buffer.alloc(0);
    return ({ from, type, index, bytes }) => {
      if (from === 'dialer' && type === 'HANDSHAKE' && index === 0) connections += 1;
      if (type !== 'DATA') return bytes;
      if (connections > 1) return index > 0 ? bytes : dressed ? carrying(bytes, old) : old;
      if (index === 0) old = bytes;
      if (index === FRAME_OF_THE_CUT) relay.cut();
      return bytes;
    };
  };
}

function truncate(relay: Relay): Meddler {
  return ({ type, index, bytes }) => {
    if (type !== 'DATA' || index < FRAME_OF_THE_CUT) return bytes;
    relay.close();
    return Buffer.alloc(0);
  };
}

function forgedBefore(type: (typeof FRAME_TYPES)[number], payloadBytes: number): Attack['attack'] {
  return onData((bytes) => Buffer.concat([forged(type, payloadBytes, bytes), bytes]));
}

function forgedBack(type: (typeof FRAME_TYPES)[number], payloadBytes: number): Attack['attack'] {
  return () =>
    ({ type: passing, index, bytes, reflect }) => {
      if (passing === 'DATA' && index === 1) reflect(forged(type, payloadBytes, bytes));
      return bytes;
    };
}

/** A frame with the right position and length; the receiver rejects it before it compares count and digest. */
function forgedEnd(): Meddler {
  return ({ type, bytes }) => (type === 'END' ? forged('END', 20, bytes) : bytes);
}

function behindEnd(more: Buffer): Attack['attack'] {
  return () =>
    ({ type, bytes }) =>
      type === 'END' ? Buffer.concat([bytes, more]) : bytes;
}

/** A frame as an attacker without the key can create it: not sealed. Epoch and offset are those of `like`. */
function forged(
  type: (typeof FRAME_TYPES)[number],
  payloadBytes: number,
  like: Buffer = Buffer.alloc(PAYLOAD_AT),
): Buffer {
  const frame = withLength(Buffer.concat([like.subarray(0, PAYLOAD_AT), Buffer.alloc(payloadBytes)]));
  frame[LENGTH_BYTES] = FRAME_TYPES.indexOf(type) + 1;
  frame[FLAGS_AT] = 0;
  frame.fill(0, SEQUENCE_AT, PAYLOAD_AT);
  return frame;
}

function carrying(header: Buffer, carrier: Buffer): Buffer {
  return withLength(Buffer.concat([header.subarray(0, PAYLOAD_AT), carrier.subarray(PAYLOAD_AT)]));
}

function withLength(frame: Buffer): Buffer {
  const whole = Buffer.from(frame);
  whole.writeUInt32LE(frame.length - LENGTH_BYTES);
  return whole;
}
