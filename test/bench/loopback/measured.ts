// SPDX-License-Identifier: Apache-2.0
// Runs a bash command line under `measure`, including processes that it leaves running.
import type { Readable } from 'node:stream';
import { type Started, startProgram } from '../../support/start-program.ts';
import { program } from '../programs/programs.ts';

export interface Usage {
  /** Times of the monotonic clock. */
  readonly beganS: number;
  readonly endedS: number;
  readonly userS: number;
  readonly sysS: number;
  /** The largest resident memory of one process. */
  readonly maxRssKib: number;
}

export interface Measured {
  readonly said: string;
  readonly usage: Usage;
}

const LONGEST_MS = 300_000;
const LAST_WORDS = 1000;

export interface Running {
  /** Rejects unless the status is 0. */
  readonly ended: Promise<Measured>;
  kill(): void;
}

/** `through`: prefix of a command line; it must exec its command. */
export function startMeasured(
  command: string,
  env: NodeJS.ProcessEnv,
  cwd: string,
  through: readonly string[] = [],
): Running {
  const started = startProgram([...through, program('measure'), 'bash', '-c', `set -o pipefail; ${command}`], {
    cwd,
    env,
    extendEnv: false,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
  });
  const kill = () => void (started.child.exitCode === null && process.kill(-started.pid, 'SIGKILL'));
  return { ended: ended(started, command, kill), kill };
}

async function ended(started: Started, command: string, kill: () => void): Promise<Measured> {
  const report: Buffer[] = [];
  (started.child.stdio[3] as Readable).on('data', (chunk: Buffer) => report.push(chunk));
  const timer = setTimeout(kill, LONGEST_MS);
  const { status, signal } = await started.ended.finally(() => clearTimeout(timer));
  const text = started.outputs();
  if (status !== 0) throw new Error(`${command}: ${signal ?? `status ${status}`}: ${text.trim().slice(-LAST_WORDS)}`);
  return { said: text, usage: usageIn(Buffer.concat(report).toString()) };
}

function usageIn(report: string): Usage {
  const [beganS = 0, endedS = 0, userS = 0, sysS = 0, maxRssKib = 0] = report.trim().split(' ').map(Number);
  return { beganS, endedS, userS, sysS, maxRssKib };
}
