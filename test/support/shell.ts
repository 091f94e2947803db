// SPDX-License-Identifier: Apache-2.0
// Command lines run by bash, as a user types them.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect } from 'chai';
import { eventually } from './eventually.ts';

export interface Result {
  readonly status: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: Buffer;
  /** stdout as UTF-8. */
  readonly text: string;
  readonly stderr: string;
}

export interface ShellOptions {
  readonly cwd: string;
  readonly env: NodeJS.ProcessEnv;
  /** Words before `bash`, such as those of ip(8) that run it in a network namespace; they replace themselves by it. */
  readonly through?: readonly string[];
  /** `empty` is /dev/null; `open` a pipe that stays open until closeInput(). */
  readonly stdin?: 'empty' | 'open';
  /** The shell and its process group are killed after this time. */
  readonly longestMs: number;
}

export interface Running {
  /** Of bash; with `exec` in the script, of what it started. */
  readonly pid: number;
  readonly result: Promise<Result>;
  write(text: string): void;
  closeInput(): void;
  /** Waits until standard output begins with these words; fails when it ends before. */
  printed(text: string, withinMs?: number): Promise<void>;
  kill(signal: NodeJS.Signals): void;
}

export function startShell(script: string, options: ShellOptions): Running {
  const [program = '', ...words] = [...(options.through ?? []), 'bash', '-c', script];
  const child = spawn(program, words, {
    cwd: options.cwd,
    env: options.env,
    detached: true,
    stdio: [options.stdin === 'open' ? 'pipe' : 'ignore', 'pipe', 'pipe'],
  });
  const stdout = collect(child, 'stdout');
  const stderr = collect(child, 'stderr');
  child.stdin?.on('error', ignoreClosedReader);
  const result = ended(child, stdout, stderr, options.longestMs);
  const expectPrinted = (text: string) => {
    expect(Buffer.concat(stdout).toString().slice(0, text.length), Buffer.concat(stderr).toString()).to.equal(text);
  };
  return {
    pid: pidOf(child),
    result,
    write: (text) => void child.stdin?.write(text),
    closeInput: () => void child.stdin?.end(),
    printed: (text, withinMs) =>
      Promise.race([eventually(() => expectPrinted(text), withinMs), result.then(() => expectPrinted(text))]),
    kill: (signal) => void child.kill(signal),
  };
}

/** Status 0, this output, and not a word on standard error. */
export function succeeded(result: Result, text: string): void {
  const { status, signal, stderr } = result;
  expect({ status, signal, text: result.text, stderr }).to.deep.equal({ status: 0, signal: null, text, stderr: '' });
}

/** This status, and one line of rdpipe's on standard error that says why. */
export function failed(result: Result, status: number, why: RegExp): void {
  expect(result.stderr).to.match(why);
  expect(result.stderr.trimEnd().split('\n'), result.stderr).to.have.length(1);
  expect(result.stderr).to.match(/^rdpipe: /);
  expect({ status: result.status, signal: result.signal }).to.deep.equal({ status, signal: null });
}

function collect(child: ChildProcess, name: 'stdout' | 'stderr'): Buffer[] {
  const chunks: Buffer[] = [];
  child[name]?.on('data', (chunk: Buffer) => chunks.push(chunk));
  return chunks;
}

async function ended(
  child: ChildProcess,
  stdout: readonly Buffer[],
  stderr: readonly Buffer[],
  longestMs: number,
): Promise<Result> {
  const timer = setTimeout(() => process.kill(-pidOf(child), 'SIGKILL'), longestMs);
  const [status, signal] = await once(child, 'close');
  clearTimeout(timer);
  const output = Buffer.concat(stdout);
  return { status, signal, stdout: output, text: output.toString(), stderr: Buffer.concat(stderr).toString() };
}

function pidOf(child: ChildProcess): number {
  if (child.pid === undefined) throw new Error('bash could not be started');
  return child.pid;
}

/** Who writes to a reader that has gone sees it by its output. */
function ignoreClosedReader(): void {}
