// SPDX-License-Identifier: Apache-2.0
// Tries keys on the first message of a recorded dialer,
// which proves that the dialer has the key (RFC 8446, section 4.2.11.2): nothing is sent to either end.
import { createHash, createHmac, scryptSync } from 'node:crypto';
import { HEADER_BYTES, LENGTH_BYTES } from './relay.ts';

const HASH = 'sha384';
const HASH_BYTES = 48;
const RECORD_HEAD_BYTES = 5;
/** The end of the message: length of the list, length of the binder, and the binder. */
const BINDERS_BYTES = 2 + 1 + HASH_BYTES;

/** Returns the first word that is the key of the message. */
export function guessKey(message: Buffer, words: readonly string[]): string | undefined {
  const hello = message.subarray(LENGTH_BYTES + HEADER_BYTES + RECORD_HEAD_BYTES);
  const binder = hello.subarray(-HASH_BYTES);
  const transcript = createHash(HASH).update(hello.subarray(0, -BINDERS_BYTES)).digest();
  return words.find((word) => binderOf(stretch(word), transcript).equals(binder));
}

/** Derives a key from a word (docs/protocol/wire.md, section 1.2). */
function stretch(word: string): Buffer {
  return scryptSync(word, 'rdpipe/1 key', 32, { N: 1 << 15, r: 8, p: 1, maxmem: 64 << 20 });
}

function binderOf(key: Buffer, transcript: Buffer): Buffer {
  const early = mac(Buffer.alloc(HASH_BYTES), key);
  const binderKey = expand(early, 'ext binder', createHash(HASH).digest());
  return mac(expand(binderKey, 'finished', Buffer.alloc(0)), transcript);
}

function expand(secret: Buffer, label: string, context: Buffer): Buffer {
  const words = Buffer.from(`tls13 ${label}`);
  const head = Buffer.of(0, HASH_BYTES, words.length);
  return mac(secret, Buffer.concat([head, words, Buffer.of(context.length), context, Buffer.of(1)]));
}

function mac(key: Buffer, text: Buffer): Buffer {
  return createHmac(HASH, key).update(text).digest();
}
