// SPDX-License-Identifier: Apache-2.0
// Starts a program for a test, collects its output, and reports every end as a result.
import { execa, type Options, type ResultPromise } from 'execa';

export interface Ended {
  readonly status: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: Buffer;
  readonly stderr: string;
}

export interface Started {
  readonly child: ResultPromise<Options>;
  readonly pid: number;
  readonly ended: Promise<Ended>;
  /** The output so far. */
  stdout(): Buffer;
  stderr(): string;
  /** Both outputs so far, in the order of arrival. */
  outputs(): string;
}

export function startProgram([program = '', ...words]: readonly string[], options: Options): Started {
  const watched: Options = { ...options, reject: false, buffer: false, forceKillAfterDelay: false };
  const child = execa(program, words, watched);
  if (child.pid === undefined) throw new Error(`cannot start ${program}`);
  const stdout: Buffer[] = [];
  const stderr: Buffer[] = [];
  const outputs: Buffer[] = [];
  for (const [output, kept] of [
    [child.stdout, stdout],
    [child.stderr, stderr],
  ] as const)
    output?.on('data', (chunk: Buffer) => {
      kept.push(chunk);
      outputs.push(chunk);
    });
  const started = {
    child,
    pid: child.pid,
    stdout: () => Buffer.concat(stdout),
    stderr: () => Buffer.concat(stderr).toString(),
    outputs: () => Buffer.concat(outputs).toString(),
  };
  const ended = child.then(({ exitCode = null, signal = null }) => ({
    status: exitCode,
    signal,
    stdout: started.stdout(),
    stderr: started.stderr(),
  }));
  return { ...started, ended };
}
