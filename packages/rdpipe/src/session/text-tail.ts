/** Keeps the last bytes of a stream as text. */
import type { Readable } from 'node:stream';

/**
 * Reads a stream to its end, so that its writer never blocks. Returns a function that returns the last bytes as text.
 */
export function keepTail(stream: Readable, keptBytes = 64 * 1024): () => string {
  let tail = Buffer.alloc(0);
  stream.on('data', (chunk: Buffer) => {
    tail = Buffer.concat([tail, chunk]).subarray(-keptBytes);
  });
  stream.on('error', () => {});
  return () => tail.toString('utf8');
}
