/** Keeps node away from descriptors 0 and 1, which carry the user's data.
 *
 * Opening process.stdin or process.stdout sets O_NONBLOCK on a pipe for every process that shares it, and `import
 * process from 'node:process'`, as many libraries have it, opens both. Therefore this module runs first, and a module
 * that imports such a library is imported after it, by `import()`.
 */
import { closeSync } from 'node:fs';
import { Readable, Writable } from 'node:stream';
import { isatty } from 'node:tty';

/** Puts streams in their place that lead nowhere. Idempotent. */
export function protectPayload(): void {
  const replace = (name: 'stdin' | 'stdout', stream: Readable | Writable) =>
    Object.defineProperty(process, name, { value: stream, configurable: true, enumerable: true, writable: false });
  replace('stdin', Readable.from([]));
  replace('stdout', new Writable({ write: (_chunk, _encoding, done) => done() }));
}

/**
 * When node ends, it gives each terminal among its descriptors the modes that it had when node began. A pager at the
 * other end of the pipe has set its own meanwhile: `rdpipe … | less` would need Enter behind each key, or would leave a
 * shell without echo. A closed descriptor is left out. All output of the end comes before this.
 */
export function leaveTerminalModes(): void {
  process.on('exit', () => {
    for (const descriptor of [0, 1, 2]) if (isatty(descriptor)) closeSync(descriptor);
  });
}
