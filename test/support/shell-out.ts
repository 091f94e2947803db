// SPDX-License-Identifier: Apache-2.0
// Programs that are run to their end, one after another, while what a test stands on is put together.
import { spawnSync } from 'node:child_process';

const LARGEST_OUTPUT_BYTES = 256 * 1024 * 1024;

/** What it prints; throws, with its words, unless it ends with status 0. */
export function output(
  program: string,
  words: readonly string[],
  input: string | Buffer = '',
  env: NodeJS.ProcessEnv = process.env,
): Buffer {
  const { status, stdout, stderr, error } = spawnSync(program, words, { input, env, maxBuffer: LARGEST_OUTPUT_BYTES });
  if (status === 0) return stdout;
  const why = error?.message ?? (stderr.toString().trim() || `status ${status}`);
  throw new Error(`${program} ${words.join(' ')}: ${why}`);
}

export function lines(program: string, words: readonly string[]): string[] {
  const text = output(program, words).toString().trimEnd();
  return text === '' ? [] : text.split('\n');
}

export function succeeds(program: string, words: readonly string[]): boolean {
  return spawnSync(program, words, { stdio: 'ignore' }).status === 0;
}
