#!/usr/bin/env node
// SPDX-License-Identifier: Apache-2.0
// A substitute for `kubectl exec -i`, `docker exec -i` and `lxc exec -T` that runs commands locally.
// If $EXEC_CUT names a file, the channel is cut with status 0 as soon as the file exists.
// With $EXEC_NO_HALF_CLOSE, the command's input never ends, not even when this program is killed.
import { spawn, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { basename } from 'node:path';

const program = basename(process.argv[1] ?? '');
const words = process.argv.slice(2);
const command = commandOf(words);
if (command === undefined) {
  process.stderr.write(`error: unexpected words: ${words.join(' ')}\n`);
  process.exit(1);
}

// A process that starts the command remains when this program is killed, and passes on no end of its input.
const isFarSide = process.env.EXEC_NO_HALF_CLOSE === 'far';
if (process.env.EXEC_NO_HALF_CLOSE !== undefined && !isFarSide) {
  const options = { detached: true, stdio: 'inherit', env: { ...process.env, EXEC_NO_HALF_CLOSE: 'far' } };
  const { status } = spawnSync(process.execPath, process.argv.slice(1), options);
  process.exit(status ?? 137);
}

const child = spawn(command[0], command.slice(1), { stdio: 'pipe' });
for (const stream of [child.stdin, process.stdin]) stream.on('error', () => {});
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => isFarSide || process.exit(1));
process.stdin.pipe(child.stdin, { end: !isFarSide });
child.stdout.pipe(process.stdout);
child.stderr.pipe(process.stderr);
child.once('close', (code) => {
  // kubectl writes this line, docker does not.
  if (code !== 0 && program === 'kubectl') process.stderr.write(`command terminated with exit code ${code}\n`);
  // Wait for a slow reader: output that it has not read yet would be lost at exit.
  process.stdout.write('', () => process.stderr.write('', () => process.exit(code ?? 137)));
});

const cut = process.env.EXEC_CUT;
if (cut !== undefined) setInterval(() => existsSync(cut) && process.exit(0), 10);

/** The command after exec's own words; undefined if these are not the words that rdpipe uses. */
function commandOf([verb, stdin, ...rest]) {
  if (verb !== 'exec' || stdin !== (program === 'lxc' ? '-T' : '-i')) return undefined;
  const mark = rest.indexOf('--');
  if (program !== 'docker') return mark < 1 ? undefined : rest.slice(mark + 1);
  const [option, , ...others] = rest;
  return option === '--user' ? others.slice(1) : rest.slice(1);
}
