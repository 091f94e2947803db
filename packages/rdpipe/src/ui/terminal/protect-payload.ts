/** Keeps node away from descriptors 0 and 1, which carry the user's data.
 *
 * Opening process.stdin or process.stdout sets O_NONBLOCK on a pipe for every process that shares it, and `import
 * process from 'node:process'`, which many libraries contain, opens both. Therefore this module runs first, and modules
 * that import such a library are loaded later, with `import()`.
 */
import { closeSync } from 'node:fs';
import { Readable, Writable } from 'node:stream';
import { isatty } from 'node:tty';

/** Replaces process.stdin with an empty stream and process.stdout with one that drops everything. Idempotent. */
export function protectPayload(): void {
  const replace = (name: 'stdin' | 'stdout', stream: Readable | Writable) =>
    Object.defineProperty(process, name, { value: stream, configurable: true, enumerable: true, writable: false });
  replace('stdin', Readable.from([]));
  replace('stdout', new Writable({ write: (_chunk, _encoding, done) => done() }));
}

/**
 * Closes terminals at exit: node resets each terminal among its descriptors to its modes at node's start, except closed
 * descriptors. A pager after the pipe has set its own modes by then: `rdpipe … | less` would need Enter after each key,
 * or leave a shell without echo. All final output must be written before.
 */
export function leaveTerminalModes(): void {
  process.on('exit', () => {
    for (const descriptor of [0, 1, 2]) if (isatty(descriptor)) closeSync(descriptor);
  });
}
