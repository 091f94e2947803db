// SPDX-License-Identifier: Apache-2.0
// Forges a stream without changing its digest, which is XXH3 with the public secret:
// the attacker replaces bytes with chosen ones, and changes some more so that the digest of the stream stays the same.
//
// XXH3 takes a stream in blocks of 16 stripes of 8 lanes. Lane i of stripe n, a number d, adds lo(d ^ s) * hi(d ^ s) to
// sum i, and d to the neighboring sum; s is a part of the secret that depends on i and n. A block counts only by these
// sums. So five lanes of a column can compensate any change of its other lanes: three yield any sum of products, and
// two whose product is 0 (one half of d equals that of s) yield any sum of the numbers.

export const BLOCK_BYTES = 1024;
/** Chosen bytes per block, contiguous: the rest of the block compensates for them. */
export const CHOSEN_MAX_BYTES = 11 * 64;

const STRIPE_BYTES = 64;
const LANE_BYTES = 8;
const STRIPES = BLOCK_BYTES / STRIPE_BYTES;
const REPAIRING = 5;
const LOW = 0xffff_ffffn;

/** XXH3_kSecret of xxhash.h, which every program uses that computes the digest without a secret of its own. */
const SECRET = Buffer.from(
  'b8fe6c3923a44bbe7c01812cf721ad1cded46de9839097db7240a4a4b7b3671fcb79e64eccc0e578825ad07dccff7221' +
    'b8084674f743248ee03590e6813a264c3c2852bb91c300cb88d0658b1b532ea371644897a20df94e3819ef46a9deacd8' +
    'a8fa763fe39c343ff9dcbbc7c70b4f1d8a51e04bcdb45931c89f7ec9d9787364eac5ac8334d3ebc3c581a0fffa1363eb' +
    '170ddd51b7f0da49d316552629d4689e2b16be587d47a1fc8ff8b8d17ad031ce45cb3a8f95160428afd7fbcabb4b407e',
  'hex',
);

/**
 * Returns the block with the chosen bytes at its beginning. It must not extend into the last 64 bytes of the stream.
 */
export function forgeBlock(block: Buffer, chosen: Buffer): Buffer {
  if (block.length !== BLOCK_BYTES || chosen.length > CHOSEN_MAX_BYTES) throw new Error('not a block, or too much');
  const forged = Buffer.concat([chosen, block.subarray(chosen.length)]);
  for (let column = 0; column < STRIPE_BYTES / LANE_BYTES; column++) repair(forged, column, sumsOf(block, column));
  return forged;
}

interface Sums {
  readonly products: bigint;
  readonly numbers: bigint;
}

function sumsOf(block: Buffer, column: number, stripes = STRIPES): Sums {
  let [products, numbers] = [0n, 0n];
  for (let stripe = 0; stripe < stripes; stripe++) {
    const number = block.readBigUInt64LE(placeOf(stripe, column));
    const key = number ^ secretOf(stripe, column);
    products += (key & LOW) * (key >> 32n);
    numbers += number;
  }
  return { products, numbers };
}

/** Sets the last five lanes of the column so that the column yields these sums. */
function repair(block: Buffer, column: number, wanted: Sums): void {
  const firstRepairing = STRIPES - REPAIRING;
  const kept = sumsOf(block, column, firstRepairing);
  const put = (index: number, high: bigint, low: bigint): bigint => {
    const number = ((high << 32n) | low) ^ secretOf(firstRepairing + index, column);
    block.writeBigUInt64LE(number, placeOf(firstRepairing + index, column));
    return number;
  };
  const products = BigInt.asUintN(64, wanted.products - kept.products);
  const quotient = least(products / LOW, LOW);
  const rest = products - quotient * LOW;
  let numbers =
    kept.numbers + put(0, LOW, quotient) + put(1, 1n, least(rest, LOW)) + put(2, 1n, rest - least(rest, LOW));

  const [withoutHigh, withoutLow] = [secretOf(STRIPES - 2, column), secretOf(STRIPES - 1, column)];
  numbers += (withoutHigh & ~LOW) + (withoutLow & LOW);
  const missing = BigInt.asUintN(64, wanted.numbers - numbers);
  put(3, 0n, (missing ^ withoutHigh) & LOW);
  put(4, (missing ^ withoutLow) >> 32n, 0n);
}

function least(one: bigint, other: bigint): bigint {
  return one < other ? one : other;
}

function placeOf(stripe: number, column: number): number {
  return stripe * STRIPE_BYTES + column * LANE_BYTES;
}

function secretOf(stripe: number, column: number): bigint {
  return SECRET.readBigUInt64LE((stripe + column) * LANE_BYTES);
}
