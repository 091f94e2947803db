/** Keeps the last bytes of a stream as text. */
import type { Readable } from 'node:stream';

/** Reads a stream to its end and keeps its last bytes as text, so that it never blocks its writer. */
export function keepTail(stream: Readable, keptBytes = 64 * 1024): () => string {
  let tail = Buffer.alloc(0);
  stream.on('data', (chunk: Buffer) => {
    tail = Buffer.concat([tail, chunk]).subarray(-keptBytes);
  });
  stream.on('error', () => {});
  return () => tail.toString('utf8');
}
