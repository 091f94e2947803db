/**
 * Keeps node away from descriptors 0 and 1, which carry the user's data. Opening process.stdin or process.stdout sets
 * O_NONBLOCK on a pipe for everybody who shares it, and `import process from 'node:process'`, which many libraries
 * do, opens both. So this comes first, and whatever imports such a library is imported after it, by `import()`.
 */
import { Readable, Writable } from 'node:stream';

/** Puts streams in their place that lead nowhere. Idempotent. */
export function protectPayload(): void {
  const replace = (name: 'stdin' | 'stdout', stream: Readable | Writable) =>
    Object.defineProperty(process, name, { value: stream, configurable: true, enumerable: true, writable: false });
  replace('stdin', Readable.from([]));
  replace('stdout', new Writable({ write: (_chunk, _encoding, done) => done() }));
}
