/** The files of a bundle as they are sent to a host: one after the other, compressed once per process. */
import { promisify } from 'node:util';
import type { Bundle } from './bundle.ts';

/** Returns the bytes for the program that unpacks them on the host, `gzip -dc` or `cat`. */
export function payloadFor(unpack: string, bundle: Bundle): Promise<Buffer> {
  return unpack.startsWith('gzip') ? compressedPayload(bundle) : plainPayload(bundle);
}

/** Reads and compresses the files on the first call. */
export function compressedPayload(bundle: Bundle): Promise<Buffer> {
  const known = compressed.get(bundle);
  if (known !== undefined) return known;
  const payload = plainPayload(bundle).then(compress);
  compressed.set(bundle, payload);
  return payload;
}

const compressed = new WeakMap<Bundle, Promise<Buffer>>();

async function plainPayload({ agent, others }: Bundle): Promise<Buffer> {
  return Buffer.concat(await Promise.all([agent, ...others].map((file) => file.content())));
}

/** Loads zlib only when needed: few runs copy programs. */
async function compress(plain: Buffer): Promise<Buffer> {
  const { constants, gzip } = await import('node:zlib');
  return promisify(gzip)(plain, { level: constants.Z_BEST_SPEED });
}
