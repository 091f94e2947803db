/** Splits a stream into lines of bounded length. */
import type { Readable } from 'node:stream';

export class LineTooLongError extends Error {}

/**
 * Yields the stream's lines without their newlines; also yields a last line that has no newline.
 * @throws LineTooLongError
 */
export async function* readLines(stream: Readable, longestBytes: number): AsyncGenerator<Buffer, void> {
  let parts: Buffer[] = [];
  let length = 0;
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    let rest = chunk;
    for (let end = rest.indexOf(NEWLINE); end >= 0; end = rest.indexOf(NEWLINE)) {
      if (length + end > longestBytes) throw new LineTooLongError();
      yield Buffer.concat([...parts, rest.subarray(0, end)]);
      rest = rest.subarray(end + 1);
      parts = [];
      length = 0;
    }
    length += rest.length;
    if (length > longestBytes) throw new LineTooLongError();
    if (rest.length > 0) parts.push(rest);
    if (parts.length === PARTS_MAX) parts = [Buffer.concat(parts)];
  }
  if (length > 0) yield Buffer.concat(parts);
}

const NEWLINE = 0x0a;
/** A line in more pieces is joined: if its bytes arrive one by one, each piece takes far more memory than its byte. */
const PARTS_MAX = 1024;
