// SPDX-License-Identifier: Apache-2.0
// Runs a command of the suite in its own process group, which is killed if it hangs or this process is interrupted.
import { spawn } from 'node:child_process'; // not execa: the first part installs it
import { writeSync } from 'node:fs';
import { ROOT } from '../setup/step.mjs';

/** For a command that hangs: a test that hangs reaches its own limit long before. */
const HANG_MS = 4 * 3_600_000;

/** Resolves with true if the command exits with 0. `output` is a descriptor; if not 1, it also gets standard error. */
export function runCommand([program, ...args], output, env = {}) {
  const child = spawn(program, args, {
    cwd: ROOT,
    detached: true,
    stdio: ['ignore', output, output === 1 ? 2 : output],
    env: { ...process.env, ...env },
  });
  return new Promise((resolve) => {
    const endGroup = () => process.kill(-child.pid, 'SIGKILL');
    const timer = setTimeout(() => {
      say(output, `${program} ${args.join(' ')}: hung, and was ended\n`);
      endGroup();
    }, HANG_MS);
    const interrupted = () => {
      endGroup();
      process.exit(130);
    };
    for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, interrupted);
    child.once('error', (error) => finish(say(output, `${program}: ${error.message}\n`)));
    child.once('close', (status) => finish(status));
    function finish(status) {
      clearTimeout(timer);
      for (const signal of ['SIGINT', 'SIGTERM']) process.off(signal, interrupted);
      resolve(status === 0);
    }
  });
}

/** Writes text. Standard output may be a full pipe: node waits for it, but a plain write would fail. */
export function say(output, text) {
  if (output === 1) process.stdout.write(text);
  else writeSync(output, text);
}
