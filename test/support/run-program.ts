// SPDX-License-Identifier: Apache-2.0
// Runs a program to its end and returns its unchanged output.
import { execaSync, type SyncOptions } from 'execa';

export interface Run {
  /** Undefined if a signal ended the program. */
  readonly status: number | undefined;
  readonly stdout: string;
  readonly stderr: string;
}

export type RunOptions = Pick<SyncOptions, 'cwd' | 'env' | 'extendEnv' | 'input' | 'stdin' | 'timeout'>;

/** Returns the result for any exit status. */
export function runProgram(program: string, words: readonly string[], options: RunOptions = {}): Run {
  const ended = execaSync(program, words, { ...options, reject: false, stripFinalNewline: false });
  return { status: ended.exitCode, stdout: ended.stdout, stderr: ended.stderr };
}

/** Returns its standard output; throws unless it ends with status 0. */
export function output(program: string, words: readonly string[], input = '', env: NodeJS.ProcessEnv = {}): Buffer {
  return Buffer.from(execaSync(program, words, { input, env, encoding: 'buffer', stripFinalNewline: false }).stdout);
}

export function succeeds(program: string, words: readonly string[]): boolean {
  return !execaSync(program, words, { stdio: 'ignore', reject: false }).failed;
}
