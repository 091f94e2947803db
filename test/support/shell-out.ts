// SPDX-License-Identifier: Apache-2.0
// Runs a program of the benchmark's preparations to its end.
import { execaSync } from 'execa';

/** Returns what it prints; throws, with its words, unless it ends with status 0. */
export function output(program: string, words: readonly string[], input = '', env: NodeJS.ProcessEnv = {}): Buffer {
  return Buffer.from(execaSync(program, words, { input, env, encoding: 'buffer', stripFinalNewline: false }).stdout);
}

export function succeeds(program: string, words: readonly string[]): boolean {
  return !execaSync(program, words, { stdio: 'ignore', reject: false }).failed;
}
