// SPDX-License-Identifier: Apache-2.0
// Runs a program to its end, whatever its status, and returns its unchanged output.
import { execaSync, type SyncOptions } from 'execa';

export interface Run {
  /** Undefined when a signal ended it. */
  readonly status: number | undefined;
  readonly stdout: string;
  readonly stderr: string;
}

export type RunOptions = Pick<SyncOptions, 'cwd' | 'env' | 'extendEnv' | 'input' | 'stdin' | 'timeout'>;

export function runProgram(program: string, words: readonly string[], options: RunOptions = {}): Run {
  const ended = execaSync(program, words, { ...options, reject: false, stripFinalNewline: false });
  return { status: ended.exitCode, stdout: ended.stdout, stderr: ended.stderr };
}
