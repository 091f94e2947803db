// SPDX-License-Identifier: Apache-2.0
// An attacker who can change the traffic between two authenticated ends:
// the changes, the messages, the required outcomes.
import { expect } from 'chai';
import { eventually } from '../../support/eventually.ts';
import type { Bench } from '../../support/programs.ts';
import { ENCRYPT_WORDS, ENCRYPTS, type Encrypt, endOf, Hop, type Role, soonLost } from './hop.ts';
import { type FrameType, HEADER_BYTES, LENGTH_BYTES, type Passing, Relay } from './relay.ts';

export interface TamperedMessage {
  readonly dialer: Role;
  readonly encrypt: Encrypt;
  readonly target: Target;
}

export interface Tampering extends TamperedMessage {
  readonly change: Change;
}

/** The nth message of its type from one end. */
interface Target {
  readonly from: Role;
  readonly type: FrameType;
  readonly index: number;
}

interface Change {
  readonly name: string;
  /** Returns the bytes to forward in place of the message. */
  readonly apply: (passing: Passing) => Buffer;
  readonly reflects?: true;
  /** Codes, besides data_damaged, with which an end may finish. */
  readonly otherEnds: readonly string[];
}

const STREAM_BYTES = 300_000;
const MEGABYTE = Buffer.alloc(1 << 20);
/** An end waits for the rest of a message, or for a message that does not come. */
const GONE_SILENT = ['peer_stalled', 'peer_lost'];

const TARGETS: readonly Target[] = [
  { from: 'sender', type: 'HANDSHAKE', index: 0 },
  { from: 'sender', type: 'HANDSHAKE', index: 1 },
  { from: 'receiver', type: 'HANDSHAKE', index: 0 },
  { from: 'receiver', type: 'HANDSHAKE', index: 1 },
  { from: 'sender', type: 'PING', index: 0 },
  { from: 'receiver', type: 'PONG', index: 0 },
  { from: 'sender', type: 'DATA', index: 0 },
  { from: 'sender', type: 'DATA', index: 7 },
  { from: 'receiver', type: 'ACK', index: 0 },
  { from: 'sender', type: 'END', index: 0 },
  { from: 'receiver', type: 'DONE', index: 0 },
  { from: 'sender', type: 'BYE', index: 0 },
];

const TWICE = 'arrives twice';
const FLIPS_OF_PAYLOAD = 12;
const PLACES = ['length', 'header', 'payload'] as const;

/** Flips one bit of each byte of length and header, and of bytes throughout the payload. */
const FLIPS: readonly Change[] = PLACES.flatMap((place) =>
  Array.from(
    { length: place === 'length' ? LENGTH_BYTES : place === 'header' ? HEADER_BYTES : FLIPS_OF_PAYLOAD },
    (_, at) => flip(place, at),
  ),
);

/** Header fields longer than a byte: name, first byte, byte after the last. */
const HEADER_FIELDS = [
  ['epoch', 4, 8],
  ['offset', 8, 16],
  ['sequence', 16, 24],
] as const;

const OTHER_CHANGES: readonly Change[] = [
  ...[0, 1, HEADER_BYTES - 1, 2 ** 31, 2 ** 32 - 1].map(otherLength),
  ...HEADER_FIELDS.map(allOnes),
  change('is cut short', ({ bytes }) => withLength(bytes.subarray(LENGTH_BYTES, -1))),
  change('is cut to its header', ({ bytes }) => withLength(bytes.subarray(LENGTH_BYTES, LENGTH_BYTES + HEADER_BYTES))),
  change('has an extra byte', ({ bytes }) => withLength(Buffer.concat([bytes.subarray(LENGTH_BYTES), Buffer.of(0)]))),
  change('has an extra megabyte', ({ bytes }) => withLength(Buffer.concat([bytes.subarray(LENGTH_BYTES), MEGABYTE]))),
  change(TWICE, ({ bytes }) => Buffer.concat([bytes, bytes])),
  change('arrives after noise', ({ bytes }) => Buffer.concat([withLength(Buffer.alloc(104, 0xa5)), bytes])),
  { ...change('is left out', () => Buffer.alloc(0)), otherEnds: GONE_SILENT },
  { ...change('is also sent back to its sender', reflect), reflects: true },
];

export const TAMPERED_MESSAGES: readonly TamperedMessage[] = (['sender', 'receiver'] as const).flatMap((dialer) =>
  ENCRYPTS.flatMap((encrypt) => TARGETS.map((target) => ({ dialer, encrypt, target }))),
);

export const CHANGES: readonly Change[] = [...FLIPS, ...OTHER_CHANGES];

export const TAMPERINGS: readonly Tampering[] = TAMPERED_MESSAGES.flatMap((message) =>
  CHANGES.map((change) => ({ ...message, change })),
);

export function nameOf({ dialer, encrypt, target }: TamperedMessage): string {
  const { from, type, index } = target;
  return `the ${from}'s ${type} ${index} (${ENCRYPT_WORDS[encrypt]}, the ${dialer} dials)`;
}

/** Runs a hop, tampers with one message, and checks the promised outcome. */
export async function checkTampering(bench: Bench, tampering: Tampering): Promise<void> {
  const hop = new Hop(bench, { ...tampering, bytes: STREAM_BYTES, open: soonLost() });
  const port = await hop.listen();
  const relay = await Relay.before(port);
  let tampered = false;
  relay.meddle((passing) => {
    if (tampered || !isTarget(tampering, passing)) return passing.bytes;
    tampered = true;
    return tampering.change.apply(passing);
  });
  try {
    hop.dial(relay.port);
    if (isBeforeTheChoice(tampering.target)) await expectRefusal(hop, port);
    else await expectDamage(hop, tampering);
    expect(tampered, 'the message never came').to.equal(true);
  } finally {
    relay.close();
  }
}

function isTarget({ dialer, target }: Tampering, { from, type, index }: Passing): boolean {
  const side = target.from === dialer ? 'dialer' : 'listener';
  return from === side && type === target.type && index === target.index;
}

/**
 * With the first PING the sender chooses its connection: until then a receiver accepts any other authenticated peer.
 */
function isBeforeTheChoice({ type }: Target): boolean {
  return type === 'HANDSHAKE' || type === 'PING';
}

/** The same dialer connects again, or another one does; only a listener that was already connected may fail. */
async function expectRefusal(hop: Hop, port: number): Promise<void> {
  await eventually(() => expect(hop.dialer.agent.names()).to.include.oneOf(['dial_failed', 'finished']));
  const finished = hop.dialer.agent.events.find(({ event }) => event === 'finished');
  if (finished?.code !== 'ok') {
    expect(hop.sunk).to.equal(undefined);
    if (finished !== undefined) hop.replaceDialer();
    hop.dial(port);
  }
  const listenerEnd = await endOf(hop.listener);
  if (listenerEnd !== 'ok') {
    expect(hop.listener.agent.names()).to.include('connected');
    hop.dialer.agent.tell('abort', { reason: 'the test is over' });
  }
  const dialledEnd = await endOf(hop.dialer);
  expect(dialledEnd === 'ok').to.equal(listenerEnd === 'ok');
  expectWholeOrNothing(hop, listenerEnd === 'ok');
}

async function expectDamage(hop: Hop, { dialer, target, change }: Tampering): Promise<void> {
  const ends = await Promise.all([endOf(hop.dialer), endOf(hop.listener)]);
  const [sender, receiver] = dialer === 'sender' ? ends : ends.toReversed();
  expectWholeOrNothing(hop, receiver === 'ok');
  // The stream resumed over another connection.
  if (change.otherEnds.length > 0 && ends.every((end) => end === 'ok')) return;
  if (sender === 'ok') expect(receiver).to.equal('ok');
  if (mattersToReceiver(target, change)) expect(receiver).to.not.equal('ok');
  if (!isLast(target, change)) expect(ends).to.include.oneOf(['data_damaged', ...change.otherEnds]);
}

/** A change of the receiver's messages, or after its DONE, must not undo a complete output. */
function mattersToReceiver(target: Target, change: Change): boolean {
  return target.from === 'sender' && !isLast(target, change) && change.reflects !== true;
}

/** An end that has all it needs exits, and may not see later messages. */
function isLast({ type }: Target, { name, reflects }: Change): boolean {
  if (type === 'DONE') return reflects === true || name === TWICE;
  return type === 'BYE' || (type === 'END' && name === TWICE);
}

function expectWholeOrNothing(hop: Hop, delivered: boolean): void {
  expect(hop.sunk?.equals(hop.content)).to.equal(delivered ? true : undefined);
}

function flip(place: (typeof PLACES)[number], at: number): Change {
  const apply = ({ bytes }: Passing): Buffer => {
    const changed = Buffer.from(bytes);
    const index = placeIn(bytes, place, at);
    changed[index] = (changed[index] ?? 0) ^ (1 << (at % 8));
    return changed;
  };
  const name = `has a bit flipped in its ${place} (${at})`;
  return { name, apply, otherEnds: place === 'length' ? GONE_SILENT : [] };
}

/** Positions in the payload: FLIPS_OF_PAYLOAD bytes, evenly spaced from the first to the last. */
function placeIn(bytes: Buffer, place: (typeof PLACES)[number], at: number): number {
  if (place === 'length') return at;
  if (place === 'header') return LENGTH_BYTES + at;
  const begin = LENGTH_BYTES + HEADER_BYTES;
  return begin + Math.round((at * (bytes.length - 1 - begin)) / (FLIPS_OF_PAYLOAD - 1));
}

function change(name: string, apply: Change['apply']): Change {
  return { name, apply, otherEnds: [] };
}

function reflect({ bytes, reflect: sendBack }: Passing): Buffer {
  sendBack(bytes);
  return bytes;
}

function otherLength(length: number): Change {
  const apply = ({ bytes }: Passing): Buffer => {
    const changed = Buffer.from(bytes);
    changed.writeUInt32LE(length);
    return changed;
  };
  return { name: `claims to have ${length} bytes`, apply, otherEnds: [] };
}

function allOnes([name, begin, end]: (typeof HEADER_FIELDS)[number]): Change {
  const apply = ({ bytes }: Passing): Buffer => Buffer.from(bytes).fill(0xff, LENGTH_BYTES + begin, LENGTH_BYTES + end);
  return { name: `has the largest ${name}`, apply, otherEnds: [] };
}

function withLength(message: Buffer): Buffer {
  const length = Buffer.alloc(LENGTH_BYTES);
  length.writeUInt32LE(message.length);
  return Buffer.concat([length, message]);
}
