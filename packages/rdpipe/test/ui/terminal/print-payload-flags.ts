import { readFileSync, writeSync } from 'node:fs';
import { protectPayload } from '../../../src/ui/terminal/protect-payload.ts';

const O_NONBLOCK = 0o4000;

if (process.argv[2] === 'protected') protectPayload();
await import('node:process');
process.stdin.resume();
process.stdout.write('');
writeSync(2, JSON.stringify({ stdin: modeOf(0), stdout: modeOf(1) }));

function modeOf(descriptor: number): string {
  const flags = /^flags:\s+(\d+)$/m.exec(readFileSync(`/proc/self/fdinfo/${descriptor}`, 'utf8'))?.[1] ?? '';
  return (Number.parseInt(flags, 8) & O_NONBLOCK) === 0 ? 'blocks' : 'does not block';
}
